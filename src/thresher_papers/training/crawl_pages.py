"""The pages of earlier crawls as training pages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from thresher.linkgraph import LinkGraph
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.urls.canonical import canonicalize, fingerprint, host_key
from thresher_papers.strategies.layers.source import ELSEWHERE


class CrawlPages:
    """All pages that some crawls have fetched, numbered by crawl and rank; each URL once.

    A crawl stores the text of relevant pages, and of others only if configured so; for pages without text the title is
    used. Of a URL that several crawls have, the first one with a text counts.
    """

    def __init__(self, *collections: PageStoreReader) -> None:
        found: dict[int, tuple[PageStoreReader, PageRecord, bool]] = {}
        for collection in collections:
            for record in collection.ranked():
                known = found.get(record.fingerprint)
                if known is None or not known[2]:
                    has_text = collection.has_text(record.fingerprint)
                    if known is None or has_text:
                        found[record.fingerprint] = (collection, record, has_text)
        self._pages = list(found.values())
        self._numbers = {page: number for number, page in enumerate(found)}
        self._moved = {start: end for each in reversed(collections) for start, end in each.redirects().items()}

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def relevant(self) -> list[int]:
        return [number for number, (_, record, _) in enumerate(self._pages) if record.relevant]

    @property
    def without_text(self) -> int:
        """Number of pages with nothing but a title."""
        return sum(not has_text for _, _, has_text in self._pages)

    def has_text(self, url: str) -> bool:
        """Return whether the text of a page is known."""
        number = self.number_of(url)
        return number != ELSEWHERE and self._pages[number][2]

    def number_of(self, url: str) -> int:
        """Return the number of the page that a URL leads to, after redirects."""
        canonical = canonicalize(url)
        return self._number(fingerprint(canonical)) if canonical else ELSEWHERE

    def _number(self, page: int) -> int:
        visited = set[int]()
        while page not in self._numbers and page in self._moved and page not in visited:
            visited.add(page)
            page = self._moved[page]
        return self._numbers.get(page, ELSEWHERE)

    def url(self, page: int) -> str:
        return self._pages[page][1].url

    def host(self, page: int) -> str:
        return host_key(self.url(page))

    @cached_property
    def graph(self) -> LinkGraph:
        ends = [(page, target) for page in range(len(self)) for target, _ in self.links(page)]
        return LinkGraph.from_edges(len(self), np.array(ends, dtype=np.int64).reshape(-1, 2))

    def text(self, page: int) -> str:
        """Return the text of a page, or its title without one."""
        collection, record, _ = self._pages[page]
        return collection.text(record.fingerprint) or record.title

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Yield the links of a page: the number of the target, and the anchor."""
        collection, record, _ = self._pages[page]
        for link in collection.links(record.fingerprint):
            yield self._number(fingerprint(link.url)), link.anchor

    def link_urls(self, page: int) -> list[str]:
        """Return the URLs that a page links to."""
        collection, record, _ = self._pages[page]
        return [link.url for link in collection.links(record.fingerprint)]
