"""How many real pages are taken for block pages: ``python -m bench.collection.block_pages [--shown N] [--every N]``.

Every page of the frozen webs is parsed and checked, as in a crawl. These pages were saved by people and by crawlers
that kept pages only, so most detected ones are mistakes; each is printed with its evidence, to be looked at. Also
printed: the CPU time of the check beside that of the parse, and the result on the generated pages of
`testing.block_pages`, whose truth is known. Needs THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import io
import json
import time
from collections import Counter
from collections.abc import Iterator

import zstandard

from testing.block_pages import PageCase, near_misses, walls
from thresher.parsing.block_page import BlockPage, block_page, prose_size
from thresher.parsing.html import parse
from thresher.records import FetchedPage
from thresher_lab.webs.webstore import webs_folder

WEBS = ("wikispeedia", "wikispeedia_mini", "webkb", "nankai_zh", "w3school_zh", "mdn_zh")
KIND = "text/html; charset=utf-8"


def responses(web: str, every: int) -> Iterator[FetchedPage]:
    with (webs_folder() / f"{web}.pages.jsonl.zst").open("rb") as packed:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")
        for number, line in enumerate(lines):
            if number % every == 0:
                fields = json.loads(line)
                body = fields["html"].encode("utf-8", "replace")
                headers = {"content-type": KIND}
                yield FetchedPage(url=fields["url"], status=200, headers=headers, body=body, fetched_at=0.0)


def measure_web(web: str, shown: int, every: int) -> None:
    pages, kinds, lines, parsing, checking = 0, Counter[str](), [], 0.0, 0.0
    for fetched in responses(web, every):
        begun = time.process_time()
        page = parse(fetched.url, fetched.body, KIND)
        parsed = time.process_time()
        found = block_page(page, fetched)
        parsing, checking = parsing + parsed - begun, checking + time.process_time() - parsed
        pages += 1
        if found:
            kinds[found.kind] += 1
            lines.append(f"    {fetched.url}  {page.title[:60]!r}  {found.reason}  prose {prose_size(page)}")
    flagged = sum(kinds.values())
    print(f"{web}: {flagged} of {pages:,} pages detected, {dict(kinds)}", flush=True)
    print(f"  CPU per page: parse {1000 * parsing / pages:.3f} ms, check {1000 * checking / pages:.3f} ms")
    print("\n".join(lines[:shown]), flush=True)


def checked(case: PageCase) -> BlockPage | None:
    fetched = case.fetched
    return block_page(parse(fetched.url, fetched.body, KIND), fetched)


def measure_generated() -> None:
    blocked, ordinary = walls(), near_misses()
    right = sum((found := checked(case)) is not None and found.kind is case.kind for case in blocked)
    wrong = [case.name for case in ordinary if checked(case)]
    print(
        f"generated: {right} of {len(blocked)} block pages with the right kind, {len(wrong)} of {len(ordinary)} others"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shown", type=int, default=20, help="Detected pages that are printed for each web.")
    parser.add_argument("--every", type=int, default=1, help="Check every n-th page only.")
    options = parser.parse_args()
    measure_generated()
    for web in WEBS:
        measure_web(web, options.shown, options.every)


if __name__ == "__main__":
    main()
