"""Whose main text is best, and what it costs: ``python -m bench.collection.main_text [--pages N]``.

Three kinds of real pages whose sites mark the body of an article in their templates: an encyclopedia, tutorials and a
university. That element's text is what a reader came for. Each extractor's text is compared with it as bags of terms:
precision, recall, F1, averaged over pages; and its time is set beside the time of our own parse of the same page, in
one run. trafilatura and resiliparse are compared where they are installed (no part of Thresher needs them). Needs
THRESHER_WEBS.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import zstandard
from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.html import parse
from thresher.parsing.main_content import main_blocks
from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher_lab.webs.webstore import webs_folder

BODIES = {
    "wikispeedia": "#bodyContent",
    "w3school_zh": "#maincontent",
    "nankai_zh": ".wp_articlecontent, .v_news_content, #vsb_content",
}
"""Webs, and where their templates put the body of an article."""
LEAST_TERMS = 40
"""A body of fewer terms is a stub, or a page of pictures."""

Extract = Callable[[str, ParsedPage], str]


class Case(NamedTuple):
    html: str
    page: ParsedPage
    gold: Counter[str]


def extractors() -> dict[str, Extract]:
    found: dict[str, Extract] = {
        "whole text": lambda html, page: page.text,
        "ours (blocks)": lambda html, page: main_blocks(page),
    }
    if find_spec("resiliparse"):
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html, page: extract_plain_text(html, main_content=True)
    if find_spec("trafilatura"):
        from trafilatura import extract

        found["trafilatura, fast"] = lambda html, page: extract(html, fast=True, include_comments=False) or ""
        found["trafilatura"] = lambda html, page: extract(html, include_comments=False) or ""
    return found


def cases(web: str, most: int) -> Iterator[Case]:
    """Yield every seventh page that has a body, from the beginning of the web's file."""
    with (webs_folder() / f"{web}.pages.jsonl.zst").open("rb") as packed:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")
        good = (case for number, line in enumerate(lines) if number % 7 == 0 and (case := read_case(web, line)))
        for number, case in enumerate(good):
            if number == most:
                return
            yield case


def read_case(web: str, line: str) -> Case | None:
    page: dict[str, Any] = json.loads(line)
    bodies = LexborHTMLParser(page["html"]).css(BODIES[web])
    if not bodies:
        return None
    gold = Counter(count(max((body.text(separator=" ") for body in bodies), key=len)))
    if sum(gold.values()) < LEAST_TERMS:
        return None
    return Case(page["html"], parse(page["url"], page["html"].encode(), "text/html; charset=utf-8"), gold)


def quality(gold: Counter[str], text: str) -> tuple[float, float, float]:
    found = Counter(count(text))
    common = sum((gold & found).values())
    precision = common / total if (total := sum(found.values())) else 0.0
    recall = common / sum(gold.values())
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def measure(web: str, most: int) -> None:
    tested = list(cases(web, most))
    scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    seconds: dict[str, list[float]] = defaultdict(list)
    for html, page, gold in tested:
        body = html.encode()
        seconds["parse"].append(_timed(lambda url=page.url, body=body: parse(url, body, "text/html; charset=utf-8"))[0])
        for name, extract in extractors().items():
            spent, text = _timed(lambda extract=extract, html=html, page=page: extract(html, page))
            seconds[name].append(spent)
            scores[name].append(quality(gold, text))
    parsing = statistics.fmean(seconds["parse"])
    print(f"\n## {web}: {len(tested)} pages, our own parse {1000 * parsing:.2f} ms per page\n")
    print("| extractor | precision | recall | F1 | ms per page | of the parse |", "|---|---|---|---|---|---|", sep="\n")
    for name, values in scores.items():
        precision, recall, f1 = (statistics.fmean(column) for column in zip(*values, strict=True))
        spent = statistics.fmean(seconds[name])
        cells = f"{precision:.3f} | {recall:.3f} | {f1:.3f} | {1000 * spent:.2f} | {100 * spent / parsing:.0f} %"
        print(f"| {name} | {cells} |")


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    result = call()
    return time.process_time() - begun, result


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pages", type=int, default=200, help="pages of each web")
    options = arguments.parse_args()
    for name in BODIES:
        measure(name, options.pages)
