"""What storing a page costs, with its main text or with its markup: ``python -m bench.speed.page_rows [--pages N]``.

Pages of real webs, spread evenly over each. Each page is parsed, which is not counted, and stored in two page stores
in turns: with the main text, extracted at once, and with the markup, as a worker does. Then every main text is read
from the second one, where it is extracted, and compared with the first. Needs THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from testing.machine import machine
from thresher.parsing.html import parse
from thresher.parsing.main_content import content_of_markup, stored_markup
from thresher.records import Outcome, ParsedPage
from thresher.storage.page_store import FoundLink, PageRecord, PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint
from thresher_lab.webs.importers.pagefile import SUFFIX, read_pages
from thresher_lab.webs.webstore import webs_folder

WEBS = {"wikispeedia": 5464, "w3school_zh": 9539, "mdn_zh": 7564, "nankai_zh": 8262}
"""Webs, and how many pages they have."""


class MeasuredStore:
    """A page store, and the processor time of each page that was stored in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds: list[float] = []
        self._writer = PageStoreWriter(folder / "w1.db")

    def keep(self, make: Callable[[], PageRecord]) -> None:
        begun = time.process_time()
        self._writer.write([make()])
        self.seconds.append(time.process_time() - begun)

    def close(self) -> int:
        """Close the store; return its bytes."""
        self._writer.close()
        return sum(path.stat().st_size for path in self.folder.iterdir())


def sources(web: str, most: int) -> Iterator[tuple[str, bytes, str]]:
    """Yield URL, bytes and content type of pages."""
    step = max(1, WEBS[web] // most)
    for source in islice(read_pages(webs_folder() / f"{web}{SUFFIX}"), 0, step * most, step):
        if url := canonicalize(source.url):
            yield url, source.html.encode(source.charset, "xmlcharrefreplace"), f"text/html; charset={source.charset}"


def record_of(page: ParsedPage, *, main: str, markup: str) -> PageRecord:
    return PageRecord(
        fingerprint=fingerprint(page.url),
        url=page.url,
        status=200,
        outcome=Outcome.DONE,
        fetched_at=1.0,
        page=True,
        title=page.title,
        language=page.language,
        text=page.text,
        main=main,
        markup=markup,
        links=[FoundLink(url=link.url, anchor=link.anchor, score=0.5, parts={}) for link in page.links],
    )


def with_main_text(page: ParsedPage, body: bytes, content_type: str) -> PageRecord:
    """Extract the main text at once."""
    markup = stored_markup(page, body, content_type)
    return record_of(page, main=content_of_markup(page.url, markup).text, markup="")


def with_markup(page: ParsedPage, body: bytes, content_type: str) -> PageRecord:
    """Leave the main text to those who read it."""
    return record_of(page, main="", markup=stored_markup(page, body, content_type))


def measure(web: str, most: int) -> int:
    """Print a row of the table; return how many main texts differ."""
    with tempfile.TemporaryDirectory() as at_once, tempfile.TemporaryDirectory() as later:
        stores = {with_main_text: MeasuredStore(Path(at_once)), with_markup: MeasuredStore(Path(later))}
        html_bytes = 0
        for url, body, content_type in sources(web, most):
            page = parse(url, body, content_type)
            html_bytes += len(body)
            for make, store in stores.items():
                store.keep(lambda make=make, page=page, body=body, kind=content_type: make(page, body, kind))  # type: ignore[misc]
        pages = len(stores[with_markup].seconds)
        kilobytes = [store.close() / pages / 1000 for store in stores.values()]
        different, read_ms = read_again(*(store.folder for store in stores.values()))
    before, after = (1000 * statistics.fmean(store.seconds) for store in stores.values())
    cells = [f"{pages:,}", f"{html_bytes / pages / 1000:.1f}", f"{before:.2f}", f"{after:.2f}", f"{read_ms:.2f}"]
    print("|", " | ".join([web, *cells, *(f"{size:.1f}" for size in kilobytes), str(different)]), "|", flush=True)
    return different


def read_again(at_once: Path, later: Path) -> tuple[int, float]:
    """Read all main texts from both stores; return how many differ, and the milliseconds of one from markup."""
    seconds, different = [], 0
    with PageStoreReader(at_once) as expected, PageStoreReader(later) as collection:
        for record in collection.ranked():
            begun = time.process_time()
            text = collection.content(record.fingerprint).text
            seconds.append(time.process_time() - begun)
            different += text.split() != expected.content(record.fingerprint).text.split()
    return different, 1000 * statistics.fmean(seconds)


def main() -> int:
    """Measure and print; end with 1 when a main text differs."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.page_rows", description="What storing a page costs.")
    parser.add_argument("--pages", type=int, default=1000, help="pages of each web")
    wanted = parser.parse_args()
    print(f"{machine()}; CPU ms and KB per page; a row has text, links and main text (before) or markup (after)\n")
    print("| web | pages | KB of HTML | ms before | ms after | ms to read | KB before | KB after | texts that differ |")
    print("|---|---|---|---|---|---|---|---|---|")
    return int(sum(measure(web, wanted.pages) for web in WEBS) > 0)


if __name__ == "__main__":
    sys.exit(main())
