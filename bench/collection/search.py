"""Search over 20,000 pages of the archipelago.

``python -m bench.collection.search [--pages N] [--folder DIR] [--crawl DIR]``.

The pages are parsed and kept in two segments, as two workers would; all are relevant, with relevances that have nothing
to do with the questions. Printed: what the index costs per page beside the parse and the store, how often a known
answer stands among the first five, in both orders, and how long a search takes, snippets included. With ``--folder``
the page store stays there and is used again. Needs THRESHER_WEBS.

With ``--crawl`` the pages are those of a crawl, as `bench.collection.killed --folder` leaves one, with questions of
its own topic; the crawl's page store is only read. An answer whose page the crawl does not hold counts as not found.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from bench.collection import queries as crawl_queries
from bench.collection import search_queries
from bench.collection.search_queries import CHINESE, ENGLISH
from thresher.parsing.html import parse
from thresher.parsing.main_content import stored_markup
from thresher.records import Judgement, Outcome, Revision
from thresher.search.index import NAME, SearchIndex
from thresher.search.query import SearchQuery
from thresher.search.ranking import SearchOrder
from thresher.search.snippets import snippet
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import fingerprint
from thresher_lab.webs.open_web import open_web
from thresher_lab.webs.virtualweb import Web

ANSWERS = tuple(end for ends in (*ENGLISH.values(), *CHINESE.values()) for end in ends)
BATCH = 100

Queries = dict[str, tuple[str, ...]]
Wait = tuple[float, float]
"""Seconds of processor time, and on the clock."""


def chosen(web: Web, most: int) -> list[str]:
    """Choose pages by a seeded draw; the answers are always among them."""
    urls = list(web.urls())
    answers = [url for url in urls if url.endswith(ANSWERS)]
    random.Random(1).shuffle(urls)
    return list(dict.fromkeys([*answers, *urls]))[:most]


class Clock:
    """Adds up the processor time of parts."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._since = time.process_time()

    def note(self, part: str) -> None:
        now = time.process_time()
        self.spent[part] = self.spent.get(part, 0.0) + now - self._since
        self._since = now


def fill(folder: Path, web: Web, urls: Sequence[str], clock: Clock) -> None:
    writers = [PageStoreWriter(folder / "pages" / f"w{number}.db") for number in (1, 2)]
    waiting: list[list[PageRecord]] = [[], []]
    for number, url in enumerate(urls):
        source = web.get(url)
        assert source is not None
        body, place = source.body, number % 2
        clock.note("lab")
        page = parse(url, body, source.content_type)
        clock.note("parse")
        markup = stored_markup(page, body, source.content_type)
        record = PageRecord(
            fingerprint=fingerprint(url),
            url=url,
            status=200,
            outcome=Outcome.DONE,
            fetched_at=1_000_000.0 + number,
            page=True,
            title=page.title,
            language=page.language,
            relevance=random.Random(url).random(),
            relevant=True,
            bytes=len(body),
            text=page.text,
            links=[FoundLink(url=link.url, anchor=link.anchor, score=0.5, parts={}) for link in page.links],
            markup=markup,
        )
        waiting[place].append(record)
        if len(waiting[place]) == BATCH:
            writers[place].write(waiting[place])
            waiting[place] = []
        clock.note("page store")
    for writer, records in zip(writers, waiting, strict=True):
        writer.write(records)
        writer.close()
    clock.note("page store")


def think_again(folder: Path, url: str) -> None:
    for number in (1, 2):
        writer = PageStoreWriter(folder / "pages" / f"w{number}.db")
        writer.apply_revisions([Revision(url=url, judgement=Judgement(relevance=random.random(), relevant=True))])
        writer.close()


def measure_searches(
    index: SearchIndex, collection: PageStoreReader, order: SearchOrder, asked: dict[str, Queries]
) -> None:
    waits: list[Wait] = []
    print(f"\n### Order: {order.value}\n")
    for language, queries in asked.items():
        firsts = [ask(index, collection, typed, ends, order, waits) for typed, ends in queries.items()]
        hits, at_one = sum(first <= 5 for first in firsts), sum(first == 1 for first in firsts)
        print(
            f"{language}: {len(firsts)} queries, success at 5 {hits / len(firsts):.2f}, at 1 {at_one / len(firsts):.2f}"
        )
        for typed, first in zip(queries, firsts, strict=True):
            if first > 5 and order is SearchOrder.MATCH:
                print(f"  not among the first 5: {typed}" + (f" (place {first})" if first < 99 else ""))
    for name, column in zip(("processor time", "on the clock"), zip(*waits, strict=True), strict=True):
        ordered = sorted(1000 * wait for wait in column)
        p95 = ordered[int(0.95 * len(ordered))]
        p50, longest = statistics.median(ordered), ordered[-1]
        print(f"{name}, with 10 snippets: p50 {p50:.1f} ms, p95 {p95:.1f}, longest {longest:.1f}")


def ask(
    index: SearchIndex,
    collection: PageStoreReader,
    typed: str,
    ends: tuple[str, ...],
    order: SearchOrder,
    waits: list[Wait],
) -> int:
    """Search; return the place of the first right answer, 99 when there is none."""
    begun, begun_on_clock = time.process_time(), time.perf_counter()
    query = SearchQuery.read(typed)
    found = index.search(query, limit=10, order=order)
    pages = [(collection.find(each.fingerprint), collection.text(each.fingerprint)) for each in found]
    for _, text in pages:
        snippet(text, query.terms)
    waits.append((time.process_time() - begun, time.perf_counter() - begun_on_clock))
    urls = [record.url if record else "" for record, _ in pages]
    return next((place for place, url in enumerate(urls, start=1) if url.endswith(ends)), 99)


def bytes_of(files: Iterable[Path]) -> float:
    return sum(file.stat().st_size for file in files) / (1 << 20)


def main(pages: int, folder: Path) -> None:
    clock = Clock()
    if not (folder / "pages").exists():
        web = open_web("archipelago")
        missing = [end for end in ANSWERS if not any(url.endswith(end) for url in web.urls())]
        print(f"answers that are no page of this web, and need not be: {missing}")
        fill(folder, web, chosen(web, pages), clock)
    for old in folder.glob(f"{NAME}*"):
        old.unlink()
    with SearchIndex(folder, folder / "pages") as index, PageStoreReader(folder / "pages") as collection:
        clock.note("opening")
        rows = index.catch_up() or 0
        clock.note("index")
        index.catch_up()
        clock.note("looking for news when there is none")
        think_again(folder, next(collection.ranked()).url)
        clock.note("a second thought of the judge")
        index.catch_up()
        clock.note("following it")
        print(f"## {rows:,} pages; ms of processor time per page:\n")
        for part, spent in clock.spent.items():
            print(f"- {part}: {1000 * spent / rows:.3f} ({1000 * spent:,.0f} in all)")
        print(f"\npage store {bytes_of(folder.glob('pages/*.db')):.0f} MB, index {bytes_of([index.path]):.0f} MB")
        for order in SearchOrder:
            measure_searches(index, collection, order, questions(search_queries))


def search_crawl(folder: Path) -> None:
    """Ask the questions that were written for a crawl of `bench.collection.killed`."""
    clock = Clock()
    with SearchIndex(folder, folder / "pages") as index, PageStoreReader(folder / "pages") as collection:
        index.catch_up()
        clock.note("index")
        print(f"## {index.pages():,} pages of a crawl can be found; index {bytes_of([index.path]):.0f} MB")
        kept = [record.url for record in collection.ranked(duplicates=True) if collection.text(record.fingerprint)]
        asked = questions(crawl_queries)
        for typed, ends in ((typed, ends) for queries in asked.values() for typed, ends in queries.items()):
            if not any(url.endswith(ends) for url in kept):
                print(f"- the crawl does not hold the answer: {typed}")
        for order in SearchOrder:
            measure_searches(index, collection, order, asked)


def questions(module: ModuleType) -> dict[str, Queries]:
    return {"English": module.ENGLISH, "Chinese": module.CHINESE}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=20_000)
    arguments.add_argument("--folder", type=Path, help="where the page store stays; a temporary folder if left out")
    arguments.add_argument("--crawl", type=Path, help="ask about a crawl of bench.collection.killed instead")
    options = arguments.parse_args()
    if options.crawl:
        search_crawl(options.crawl)
        sys.exit()
    place = options.folder or Path(tempfile.mkdtemp(prefix="thresher-search-"))
    place.mkdir(parents=True, exist_ok=True)
    try:
        main(options.pages, place)
    finally:
        if options.folder is None:
            shutil.rmtree(place)
