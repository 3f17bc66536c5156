"""The latest pages of the crawl that is under way, as pages to learn layers from."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thresher.linkgraph.graph import LinkGraph
from thresher.records import ParsedPage
from thresher.strategies.layering.source import ELSEWHERE
from thresher.urls.canonical import fingerprint

MOST_PAGES = 3_000
"""That are remembered; beyond it the oldest are forgotten."""
MOST_CHARACTERS = 20_000
"""Of a page's text."""


@dataclass(frozen=True, slots=True)
class _Page:
    text: str
    links: array[int]
    target: bool


class CrawledPages:
    """Remembers text and links of the latest pages; anchors are not kept.

    Args:
        most: How many pages are remembered.
    """

    def __init__(self, *, most: int = MOST_PAGES) -> None:
        self._most = most
        self._pages: dict[int, _Page] = {}

    def add(self, page: ParsedPage, *, target: bool) -> None:
        """Remember a page, and whether it is one of those that are looked for."""
        links = array("q", dict.fromkeys(fingerprint(link.url) for link in page.links))
        self._pages[fingerprint(page.url)] = _Page(page.text[:MOST_CHARACTERS], links, target)
        if len(self._pages) > self._most:
            del self._pages[next(iter(self._pages))]

    def numbered(self) -> NumberedPages:
        """Give the pages as they are now, to learn from."""
        return NumberedPages(self._pages)

    def to_bytes(self) -> bytes:
        """Write all pages down."""
        rows = [[url, page.target, page.text, page.links.tolist()] for url, page in self._pages.items()]
        return zlib.compress(json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace"), 1)

    def go_on_from(self, content: bytes) -> None:
        """Take up what `to_bytes` wrote down."""
        rows = json.loads(zlib.decompress(content))
        self._pages = {url: _Page(text, array("q", links), target) for url, target, text, links in rows}


class NumberedPages:
    """Pages of a crawl as a source of layers, numbered from the oldest."""

    def __init__(self, pages: Mapping[int, _Page]) -> None:
        self._pages = list(pages.values())
        self._numbers = {url: number for number, url in enumerate(pages)}

    @property
    def targets(self) -> list[int]:
        """The pages that are looked for."""
        return [number for number, page in enumerate(self._pages) if page.target]

    @cached_property
    def graph(self) -> LinkGraph:
        """Which of these pages links to which."""
        ends = [(page, target) for page in range(len(self._pages)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self._pages), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        """Give the text of a page."""
        return self._pages[page].text

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Give where the links of a page lead; their anchors are not known."""
        return ((self._numbers.get(url, ELSEWHERE), "") for url in self._pages[page].links)
