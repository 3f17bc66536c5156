"""How many real pages pass the rules of published text filters: ``python -m bench.collection.quality [--pages N]``.

The main text of real articles (the article extraction benchmark) and of pages of frozen webs is measured as an export
with ``--quality`` does. Printed are the share of the pages that pass each rule, of those to which it applies; of the
pages that pass all rules of a paper; the mean of `quality`, and the CPU time of measuring beside that of extraction.
Pages without main text are counted apart. Needs THRESHER_WEBS, and THRESHER_SUITES for the articles.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from bench.collection.block_pages import KIND, responses
from bench.conformance.articles import articles
from testing.machine import machine
from thresher.export.rows import measured_text
from thresher.parsing.html import parse
from thresher.parsing.main_content import content_of_markup, stored_markup
from thresher.text.quality import RULES, verdicts
from thresher.urls.canonical import canonicalize

WEBS = ("wikispeedia", "webkb", "nankai_zh", "mdn_zh")
EVERY = 7
"""Pages of a site are stored beside each other: every seventh is taken, so that more of it is seen."""
PAPERS = ("gopher", "c4", "fineweb")

Fetched = tuple[str, bytes, str]
"""URL, body and Content-Type of a page."""


def sources(pages: int) -> Iterator[tuple[str, Iterable[Fetched]]]:
    """Yield each set of pages with its name."""
    if suites := os.environ.get("THRESHER_SUITES"):
        found = articles(Path(suites))
        known = ((canonicalize(page.url) or "https://site.example/", page.html, "") for page in found)
        yield "articles", islice(known, pages)
    for web in WEBS:
        yield web, ((page.url, page.body, KIND) for page in islice(responses(web, EVERY), pages))


def measure(pages: Iterable[Fetched]) -> dict[str, str]:
    """Return what a column of the table says of some pages."""
    found: list[dict[str, bool]] = []
    total, extracting, measuring = 0, 0.0, 0.0
    for url, body, kind in pages:
        page = parse(url, body, kind)
        begun = time.process_time()
        content = content_of_markup(url, stored_markup(page, body, kind))
        extracted = time.process_time()
        text = measured_text(content, page.language)
        if text.words:
            found.append(verdicts(text))
        total, extracting = total + 1, extracting + extracted - begun
        measuring += time.process_time() - extracted
    qualities = [statistics.fmean(passed.values()) for passed in found]
    return {
        "pages with main text": f"{len(found):,} of {total:,}",
        **{name: _share(passed[name] for passed in found if name in passed) for name in RULES},
        **{f"all of {paper}": _share(_all(passed, paper) for passed in found) for paper in PAPERS},
        "all rules": _share(all(passed.values()) for passed in found),
        "mean quality": f"{statistics.fmean(qualities):.3f}" if found else "",
        "quality of 0.9 or more": _share(quality >= 0.9 for quality in qualities),
        "ms to extract": f"{1000 * extracting / max(total, 1):.2f}",
        "ms to measure": f"{1000 * measuring / max(total, 1):.2f}",
    }


def _all(passed: dict[str, bool], paper: str) -> bool:
    return all(passes for name, passes in passed.items() if name.startswith(f"{paper}-"))


def _share(passed: Iterable[bool]) -> str:
    counted = [*passed]
    return f"{100 * statistics.fmean(counted):.1f} %" if counted else "not applied"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.collection.quality", description=__doc__)
    parser.add_argument("--pages", type=int, default=500, help="pages of each set, at most")
    options = parser.parse_args()
    columns = {name: measure(pages) for name, pages in sources(options.pages)}
    print(f"{machine()}\n")
    print(f"| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for row in next(iter(columns.values())):
        print(f"| {row} | {' | '.join(column[row] for column in columns.values())} |")


if __name__ == "__main__":
    main()
