"""Whose Markdown is closest to the truth, and what it costs: ``python -m bench.collection.extraction``.

Generated pages (`bench.collection.page_layouts`) have a known main content. Each extractor's output is rendered, and
its text is compared with the truth as a bag of terms, its tables as a bag of rows, its links as a bag of URLs:
precision, recall and F1, averaged over pages; tables and links over the pages that have some. Extractors that are not
installed are left out; no part of Thresher needs them. ``--web NAME`` measures them on pages of a frozen web whose
template marks the body: its text, its tables of several columns and its links are the truth.
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from typing import NamedTuple

import zstandard
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from bench.collection.page_layouts import BASE, DEV, TEST, page
from testing.machine import machine
from thresher.parsing.main_content import content_of_markup
from thresher.text.tokens import count
from thresher.urls.canonical import canonicalize
from thresher_lab.webs.webstore import webs_folder

BODIES = {
    "wikispeedia": "#bodyContent",
    "w3school_zh": "#maincontent",
    "nankai_zh": ".wp_articlecontent, .v_news_content, #vsb_content",
}
"""Frozen webs, and where their templates put the body of an article."""
MIN_TERMS = 40
"""A body of fewer terms is a stub, or a page of pictures."""
RENDER = MarkdownIt("commonmark", {"html": True}).enable("table").render
Extract = Callable[[str], str]
Score = tuple[float, float, float]


class Output(NamedTuple):
    """What an extractor found, or should have found."""

    terms: Counter[str]
    rows: Counter[tuple[str, ...]]
    links: Counter[str]


class Tested(NamedTuple):
    """A page: its kind, its HTML and the truth; None for what is not known of it."""

    kind: str
    html: str
    truth: Output


def extractors() -> dict[str, Extract]:
    """Return the installed extractors by name; each returns Markdown, or text without markup."""
    found: dict[str, Extract] = {"thresher": lambda html: content_of_markup(BASE, html).markdown}
    if find_spec("trafilatura"):
        from trafilatura import extract

        kept = {"include_links": True, "include_tables": True, "include_comments": False, "url": BASE}
        found["trafilatura"] = lambda html: extract(html, output_format="markdown", **kept) or ""
    if find_spec("resiliparse"):
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True, alt_texts=False)
        found.update(_converters("resiliparse, main content as HTML + ", _resiliparse_html))
    found.update(_converters("thresher's main element + ", _main_html))
    if find_spec("html2text"):
        from html2text import html2text

        found["html2text (whole page)"] = lambda html: html2text(html, baseurl=BASE, bodywidth=0)
    return found


def _converters(before: str, select: Callable[[str], str]) -> dict[str, Extract]:
    """Return a selection of the main content, followed by each installed converter of HTML."""
    found: dict[str, Extract] = {}
    if find_spec("html_to_markdown"):
        import html_to_markdown

        found[f"{before}html-to-markdown"] = lambda html: _text_of(html_to_markdown.convert(select(html)))
    if find_spec("markdownify"):
        from markdownify import markdownify

        found[f"{before}markdownify"] = lambda html: markdownify(select(html))
    return found


def _text_of(converted: object) -> str:
    return str(getattr(converted, "content", None) or converted)


def _resiliparse_html(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(html, preserve_formatting="minimal_html", main_content=True, links=True, alt_texts=False)


def _main_html(html: str) -> str:
    from thresher.parsing.main_node import flatten, select_main

    document = LexborHTMLParser(html)
    if document.body is None:
        return ""
    tree = flatten(document.body)
    return tree.nodes[select_main(tree)].html or ""


def read_output(markdown: str) -> Output:
    """Render Markdown, and return its terms, rows and links."""
    body = LexborHTMLParser(RENDER(markdown)).body
    if body is None:
        return Output(Counter(), Counter(), Counter())
    return Output(Counter(count(body.text(separator=" "))), _rows(body), _links(body))


def _rows(body: LexborNode) -> Counter[tuple[str, ...]]:
    """Return the rows of a document; those without text and those of one cell arrange the page."""
    rows = (tuple(map(_words, row.css("td, th"))) for row in body.css("tr"))
    return Counter(row for row in rows if len(row) > 1 and any(row))


def _links(body: LexborNode) -> Counter[str]:
    """Return the links of a document that have a text, without those inside it."""
    found = (node.attributes.get("href") or "" for node in body.css("a[href]") if node.text().strip())
    return Counter(url for href in found if href[:1] != "#" and (url := canonicalize(href, BASE)))


def _words(node: LexborNode) -> str:
    return " ".join(node.text().split())


def quality(truth: Counter[object], found: Counter[object]) -> Score:
    """Return precision, recall and F1 of a bag."""
    common = sum((truth & found).values())
    precision = common / total if (total := sum(found.values())) else 0.0
    recall = common / sum(truth.values())
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def generated(layouts: Iterable[str], number: int) -> Iterator[Tested]:
    """Yield pages of each layout, in both languages."""
    for layout in (*DEV, *TEST):
        if layout.__name__ in layouts:
            for language in ("en", "zh"):
                for seed in range(number):
                    html, article = page(layout, language, seed)
                    truth = Output(Counter(count(article.text)), Counter(article.rows), Counter(article.links))
                    yield Tested(language, html, truth)


def frozen(web: str, number: int) -> Iterator[Tested]:
    """Yield every seventh page of a frozen web that has a body, with the text of that body."""
    with (webs_folder() / f"{web}.pages.jsonl.zst").open("rb") as packed:
        lines = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), encoding="utf-8")
        good = (tested for place, line in enumerate(lines) if place % 7 == 0 and (tested := _with_body(web, line)))
        yield from islice(good, number)


def _with_body(web: str, line: str) -> Tested | None:
    html: str = json.loads(line)["html"]
    bodies = LexborHTMLParser(html).css(BODIES[web])
    if not bodies:
        return None
    body = max(bodies, key=lambda body: len(body.text(separator=" ")))
    terms = Counter(count(body.text(separator=" ")))
    return Tested(web, html, Output(terms, _rows(body), _links(body))) if sum(terms.values()) >= MIN_TERMS else None


def measure(pages: Iterable[Tested]) -> None:
    """Measure all extractors on all pages, and print a table for each kind of page."""
    tried = extractors()
    scores: dict[tuple[str, str, str], list[Score]] = defaultdict(list)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    numbers: Counter[str] = Counter()
    for kind, html, truth in pages:
        numbers[kind] += 1
        for name, extract in tried.items():
            begun = time.process_time()
            markdown = extract(html)
            seconds[kind, name].append(time.process_time() - begun)
            found = read_output(markdown)
            for measured in ("terms", "rows", "links"):
                if getattr(truth, measured):
                    scores[kind, name, measured].append(quality(getattr(truth, measured), getattr(found, measured)))
    for kind, number in numbers.items():
        print(f"\n## {kind}: {number} pages\n")
        print(
            "| extractor | text P, R, F1 | tables P, R, F1 | links P, R, F1 | CPU ms per page |",
            "|---|---|---|---|---|",
            sep="\n",
        )
        for name in tried:
            cells = [_cell(scores[kind, name, measured]) for measured in ("terms", "rows", "links")]
            print(f"| {name} | {' | '.join(cells)} | {1000 * statistics.fmean(seconds[kind, name]):.2f} |")


def _cell(scores: list[Score]) -> str:
    if not scores:
        return "not known"
    return ", ".join(f"{statistics.fmean(column):.3f}" for column in zip(*scores, strict=True))


def main() -> None:
    names = [layout.__name__ for layout in (*DEV, *TEST)]
    sets = {"dev": [each.__name__ for each in DEV], "test": [each.__name__ for each in TEST], "all": names}
    parser = argparse.ArgumentParser(prog="python -m bench.collection.extraction", description=__doc__)
    parser.add_argument("--pages", type=int, default=20, help="pages of each layout and language, or of the web")
    parser.add_argument("--layouts", default="all", choices=[*sets, *names])
    parser.add_argument("--web", choices=list(BODIES))
    options = parser.parse_args()
    compared = [
        name for name in ("trafilatura", "resiliparse", "html2text", "html-to-markdown", "markdownify") if _has(name)
    ]
    print(f"{machine()}; {', '.join(f'{name} {version(name)}' for name in compared)}")
    chosen = sets.get(options.layouts, [options.layouts])
    measure(frozen(options.web, options.pages) if options.web else generated(chosen, options.pages))


def _has(name: str) -> bool:
    return find_spec(name.replace("-", "_")) is not None


if __name__ == "__main__":
    main()
