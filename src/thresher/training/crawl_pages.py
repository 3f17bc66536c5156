"""The pages of an earlier crawl as training pages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from thresher.archive.collection import Collection
from thresher.linkgraph.graph import LinkGraph
from thresher.strategies.layering.source import ELSEWHERE
from thresher.urls.canonical import canonicalize, fingerprint


class CrawlPages:
    """All pages that a crawl has fetched, numbered by their rank.

    A crawl keeps the text of relevant pages, and of the others only when it was told to; for those that have none
    their title must do.
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._records = list(collection.ranked())
        self._numbers = {record.fingerprint: number for number, record in enumerate(self._records)}

    def __len__(self) -> int:
        return len(self._records)

    @property
    def relevant(self) -> list[int]:
        """The pages that the judge found relevant."""
        return [number for number, record in enumerate(self._records) if record.relevant]

    @property
    def without_text(self) -> int:
        """How many pages have nothing but a title."""
        return sum(not self._collection.text(record.fingerprint) for record in self._records)

    def number_of(self, url: str) -> int:
        """Give the number of the page at an address, or `ELSEWHERE`."""
        canonical = canonicalize(url)
        return self._numbers.get(fingerprint(canonical), ELSEWHERE) if canonical else ELSEWHERE

    @cached_property
    def graph(self) -> LinkGraph:
        """Which page links to which."""
        ends = [(page, target) for page in range(len(self)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        """Give the text of a page, or its title when that is all there is."""
        record = self._records[page]
        return self._collection.text(record.fingerprint) or record.title

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Give the links of a page: where each leads, and its anchor."""
        for link in self._collection.links(self._records[page].fingerprint):
            yield self._numbers.get(fingerprint(link.url), ELSEWHERE), link.anchor
