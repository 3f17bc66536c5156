"""Main text on the article extraction benchmark.

The benchmark (https://github.com/scrapinghub/article-extraction-benchmark) is 181 pages of news and blogs with the body
of their article. Text is compared by shingles of four words: precision and recall are means over pages, F1 is that of
the two means. FOLDER holds `PAGES`, one ``KEY.html.gz`` for each page, and `TRUTH`.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PAGES = "article-extraction-html"
TRUTH = "article-extraction-ground-truth.json"
SHINGLE_WORDS = 4

Extract = Callable[[str, bytes], str]
"""From the URL and the bytes of a page to its main text."""

_words = re.compile(r"\w+").findall


class Article(NamedTuple):
    """A page and the body of its article."""

    key: str
    url: str
    html: bytes
    truth: str


class Quality(NamedTuple):
    """Precision and recall of a page, or their means; None where nothing was found, or nothing was to be found."""

    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float:
        both = (self.precision or 0.0) + (self.recall or 0.0)
        return 2 * (self.precision or 0.0) * (self.recall or 0.0) / both if both else 0.0


def articles(folder: Path) -> Iterator[Article]:
    """Yield the pages of the benchmark."""
    for key, stated in json.loads((folder / TRUTH).read_text("utf-8")).items():
        html = gzip.decompress((folder / PAGES / f"{key}.html.gz").read_bytes())
        yield Article(key, stated["url"], html, stated["articleBody"])


def shingle_scores(truth: str, found: str) -> Quality:
    """Return precision and recall of the shingles of a text, as the benchmark's own evaluation counts them."""
    expected, actual = _shingles(truth), _shingles(found)
    common = (expected & actual).total()
    return Quality(
        common / actual.total() if actual else None,
        common / expected.total() if expected else None,
    )


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _words(text)
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1)) if words else ()
    return Counter(tuple(words[start : start + SHINGLE_WORDS]) for start in starts)


def mean_quality(scores: Iterable[Quality]) -> Quality:
    """Return the means over pages; a page without a value is left out of that mean, as in the benchmark."""
    precisions, recalls = zip(*scores, strict=True)
    return Quality(_mean(precisions), _mean(recalls))


def _mean(values: Iterable[float | None]) -> float:
    return statistics.fmean(value for value in values if value is not None)


def main_texts() -> dict[str, Extract]:
    """Return the installed extractors by name. The truth has no headline; ours begins with it, the others' has none."""
    peers = {"trafilatura": _trafilatura, "readability-lxml": _readability, "resiliparse": _resiliparse}
    return {
        "Thresher": partial(_thresher, with_headline=False),
        "Thresher, with the headline": partial(_thresher, with_headline=True),
        **{name: extract for name, extract in peers.items() if find_spec(name.partition("-")[0])},
    }


def _thresher(url: str, html: bytes, *, with_headline: bool) -> str:
    from thresher.parsing.content_blocks import joined_text
    from thresher.parsing.html import parse
    from thresher.parsing.main_content import content_of_markup, stored_markup
    from thresher.urls.canonical import canonicalize

    known = canonicalize(url) or "https://site.example/"
    page = parse(known, html)
    if not (markup := stored_markup(page, html)):
        return page.text
    blocks = content_of_markup(known, markup).blocks
    is_headed = bool(blocks) and not with_headline and blocks[0].level == 1
    return joined_text(blocks[is_headed:])


def _trafilatura(url: str, html: bytes) -> str:
    from trafilatura import extract

    return extract(html, url=url, include_comments=False) or ""


def _readability(url: str, html: bytes) -> str:
    import lxml.html
    from readability import Document

    from thresher.parsing.markup import decode

    summary = Document(decode(html, ""), url=url).summary(html_partial=True)
    return "\n".join(lxml.html.fromstring(summary).itertext())


def _resiliparse(_: str, html: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse_from_bytes(html, detect_encoding(html))
    return extract_plain_text(tree, main_content=True, alt_texts=False, links=False)


def measure(extract: Extract, pages: Iterable[Article]) -> tuple[Quality, float]:
    """Return the quality of an extractor and its processor time in milliseconds per page."""
    scores, seconds = [], []
    for page in pages:
        begun = time.process_time()
        found = extract(page.url, page.html)
        seconds.append(time.process_time() - begun)
        scores.append(shingle_scores(page.truth, found))
    return mean_quality(scores), 1000 * statistics.fmean(seconds)
