"""The pages of an earlier crawl as training pages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from thresher.linkgraph import LinkGraph
from thresher.storage.reader import PageStoreReader
from thresher.strategies.layers.source import ELSEWHERE
from thresher.urls.canonical import canonicalize, fingerprint


class CrawlPages:
    """All pages that a crawl has fetched, numbered by their rank.

    A crawl stores the text of relevant pages, and of others only if configured so; for pages without text the title is
    used.
    """

    def __init__(self, collection: PageStoreReader) -> None:
        self._collection = collection
        self._records = list(collection.ranked())
        self._numbers = {record.fingerprint: number for number, record in enumerate(self._records)}

    def __len__(self) -> int:
        return len(self._records)

    @property
    def relevant(self) -> list[int]:
        return [number for number, record in enumerate(self._records) if record.relevant]

    @property
    def without_text(self) -> int:
        """Number of pages with nothing but a title."""
        return sum(not self._collection.text(record.fingerprint) for record in self._records)

    def number_of(self, url: str) -> int:
        canonical = canonicalize(url)
        return self._numbers.get(fingerprint(canonical), ELSEWHERE) if canonical else ELSEWHERE

    @cached_property
    def graph(self) -> LinkGraph:
        ends = [(page, target) for page in range(len(self)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        """Return the text of a page, or its title without one."""
        record = self._records[page]
        return self._collection.text(record.fingerprint) or record.title

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Yield the links of a page: the number of the target, and the anchor."""
        for link in self._collection.links(self._records[page].fingerprint):
            yield self._numbers.get(fingerprint(link.url), ELSEWHERE), link.anchor
