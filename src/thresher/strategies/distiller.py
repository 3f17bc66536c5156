"""The distiller: Chakrabarti, van den Berg and Dom, WWW8, 1999; HITS over the crawled pages, weighted by relevance.

RULES draws it beside its baseline and leaves it out; its names are those of HITS. An edge weighs what its target is
worth, so a hub is a page with many relevant links, and irrelevant pages that everybody links to make none. Links within
a host count like others: many a crawl has one host only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.records import Revision
from thresher.strategies.base import Change

MOST_PAGES = 2_000
"""The latest ones; older pages are forgotten."""
TOP_HUBS = 50
ITERATIONS = 20
LIFT = 0.5
"""What the link is lifted by that the best hubs agree on most."""


class Distiller:
    """Finds hubs among the latest pages, and says how far their links are lifted.

    Args:
        every: Pages after which hubs are looked for anew.
        most_pages: How many pages are remembered.
    """

    def __init__(self, *, every: int, most_pages: int = MOST_PAGES) -> None:
        self._every = every
        self._most_pages = most_pages
        self._new_pages = 0
        self._links: dict[str, list[str]] = {}
        self._relevance: dict[str, float] = {}
        self._lifts: dict[str, float] = {}

    def add(self, page: str, relevance: float, urls: Iterable[str]) -> None:
        """Remember a page and its links."""
        self._links.pop(page, None)
        self._links[page] = [url for url in dict.fromkeys(urls) if url != page]
        self._relevance[page] = relevance
        self._new_pages += 1
        while len(self._links) > self._most_pages:
            oldest = next(iter(self._links))
            del self._links[oldest], self._relevance[oldest]

    def revise(self, revisions: Sequence[Revision]) -> None:
        """Take over what is now thought of pages."""
        for revision in revisions:
            if revision.url in self._relevance:
                self._relevance[revision.url] = revision.judgement.reward

    def lift(self, url: str) -> float:
        """Say how far a URL is lifted now."""
        return self._lifts.get(url, 0.0)

    def distill(self) -> dict[str, Change]:
        """Look for hubs when it is time, and say whose lift changes."""
        if self._new_pages < self._every:
            return {}
        self._new_pages = 0
        before, self._lifts = self._lifts, self._lifts_of(self.hubs())
        urls = dict.fromkeys([*before, *self._lifts])
        changes = {url: Change(before.get(url, 0.0), self.lift(url)) for url in urls}
        return {url: change for url, change in changes.items() if change.was != change.now}

    def hubs(self) -> dict[str, float]:
        """Give the best hubs with their scores, the greatest of which is 1."""
        pages = list(self._links)
        number = {page: place for place, page in enumerate(pages)}
        edges = [(number[u], number[v]) for u, links in self._links.items() for v in links if v in number]
        tails, heads = np.array(edges, dtype=np.int64).reshape(-1, 2).T
        weight = np.array([self._relevance[page] for page in pages])[heads]
        h = np.ones(len(pages))
        for _ in range(ITERATIONS):
            a = _scaled(np.bincount(heads, weights=weight * h[tails], minlength=len(pages)))
            h = _scaled(np.bincount(tails, weights=weight * a[heads], minlength=len(pages)))
        best = np.argsort(-h, kind="stable")[:TOP_HUBS].tolist()
        return {pages[u]: float(h[u]) for u in best if h[u] > 0}

    def _lifts_of(self, hubs: Mapping[str, float]) -> dict[str, float]:
        """Lift what hubs link to and nobody has fetched, by the sum of their scores."""
        sums: dict[str, float] = {}
        for hub, score in hubs.items():
            for url in self._links[hub]:
                if url not in self._relevance:
                    sums[url] = sums.get(url, 0.0) + score
        most = max(sums.values(), default=1.0)
        return {url: LIFT * value / most for url, value in sums.items()}


def _scaled(values: NDArray[Any]) -> NDArray[np.float64]:
    most = values.max(initial=0)
    return np.asarray(values / most if most > 0 else values, dtype=np.float64)
