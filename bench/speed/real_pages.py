"""What real pages cost, by stage: ``python -m bench.speed.real_pages`` (needs ``THRESHER_WEBS``).

Pages of six webs, evenly chosen, go through parser, judge, strategy and page store; with ``THRESHER_SUITES`` also the
articles of as many sites of `bench.conformance.articles`. Printed: processor time of each stage per page, and of all
together per 30 KB of markup, so that webs with large and small pages can be compared. Also the share of links that had
the same URL, anchor and path of elements on an earlier page of their host, and how many pages the compiled walk leaves
to the walk in Python; ``--shares`` prints these two alone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from bench.conformance.articles import articles
from bench.speed.one_page import HTML, OnePage
from testing.machine import machine
from thresher.parsing import dom
from thresher.parsing.html import parse
from thresher.urls.canonical import host_key
from thresher_lab.webs.open_web import open_web

WEBS = {
    "wikispeedia": "en",
    "webkb": "en",
    "archipelago": "en",
    "w3school_zh": "zh",
    "mdn_zh": "zh",
    "nankai_zh": "zh",
}
ARTICLES = "181 articles"
FIRST_PAGES = 60
"""Pages at the beginning that are not counted: judge and strategy are trained more often then."""
KILOBYTES = 30


def some_pages(name: str, pages: int) -> list[tuple[str, bytes]]:
    """Return URLs and markup of pages of a web, in UTF-8."""
    if name == ARTICLES:
        return [(article.url, article.html) for article in articles(Path(os.environ["THRESHER_SUITES"]))][:pages]
    web = open_web(name)
    urls = list(web.urls())
    found = (web.get(url) for url in urls[:: max(1, len(urls) // pages)])
    bodies = [(page.url, page.html.encode("utf-8", "replace")) for page in found if page]
    web.close()
    return bodies[:pages]


def milliseconds(pages: list[tuple[str, bytes]]) -> dict[str, float]:
    """Return the processor time of each stage per page."""
    with tempfile.TemporaryDirectory() as folder, OnePage(Path(folder)) as one:
        seconds = dict.fromkeys(one.stages(), 0.0)
        for number, page in enumerate(pages):
            for name, stage in one.stages().items():
                started = time.thread_time()
                stage(*page)
                if number >= FIRST_PAGES:
                    seconds[name] += time.thread_time() - started
    return {name: 1000 * each / (len(pages) - FIRST_PAGES) for name, each in seconds.items()}


def shares(pages: list[tuple[str, bytes]]) -> str:
    """Return the share of links that were seen before, and the number of pages that are walked in Python."""
    seen: set[tuple[str, str, str, str]] = set()
    links = again = 0
    with patch.object(dom, "walk_nodes", wraps=dom.walk_nodes) as in_python:
        for url, body in pages:
            for link in parse(url, body, HTML).links:
                key = host_key(url), link.url, link.anchor, link.tag_path
                links, again = links + 1, again + (key in seen)
                seen.add(key)
    return f"{again / max(1, links):.2f} | {in_python.call_count} of {len(pages)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.speed.real_pages", description="CPU of real pages by stage.")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--shares", action="store_true", help="only links that repeat, and pages walked in Python")
    options = parser.parse_args()
    sets = {**WEBS, ARTICLES: "en"} if os.environ.get("THRESHER_SUITES") else WEBS
    if options.shares:
        print("| web | links seen before | pages walked in Python |\n|---|---|---|")
        for name in sets:
            print(f"| {name} | {shares(some_pages(name, options.pages))} |", flush=True)
        return
    print(f"{machine()}; {options.pages} pages of each web, the first {FIRST_PAGES} not counted\n")
    print("| web | KB | parse | judge | score | archive | all, ms | ms per 30 KB |\n|---|---|---|---|---|---|---|---|")
    per_size: dict[str, list[float]] = {"en": [], "zh": []}
    for name, language in sets.items():
        pages = some_pages(name, options.pages)
        size = mean(len(body) for _, body in pages[FIRST_PAGES:]) / 1000
        stages = milliseconds(pages)
        everything = sum(stages.values())
        per_size[language].append(KILOBYTES * everything / size)
        cells = [f"{size:.0f}", *(f"{each:.2f}" for each in stages.values()), f"{everything:.1f}"]
        print(f"| {name} | {' | '.join(cells)} | {per_size[language][-1]:.1f} |", flush=True)
    print(f"\nChinese pages cost {mean(per_size['zh']) / mean(per_size['en']):.2f} times English ones of the same size")


if __name__ == "__main__":
    main()
