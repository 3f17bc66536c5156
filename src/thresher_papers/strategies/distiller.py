"""The distiller: Chakrabarti, van den Berg and Dom, WWW8, 1999; HITS over the crawled pages, weighted by relevance.

RULES shows it beside its baseline, but does not use it; names are those of HITS. The weight of an edge is the
relevance of its target, so a hub is a page with many relevant links, and irrelevant pages with many in-links make no
hubs. Links within a host count like others, because many crawls have one host only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from thresher.linkgraph import LinkGraph
from thresher.records import Revision
from thresher.strategies.base import ScoreChange

MAX_PAGES = 2_000
"""The latest pages; older ones are dropped."""
TOP_HUBS = 50
ITERATIONS = 20
LIFT = 0.5
"""The largest bonus: that of the link with the greatest sum of hub scores."""


class Distiller:
    """Computes hubs among the latest pages, and the score bonuses of their links.

    Args:
        every: Pages between two computations.
        most_pages: How many pages are remembered.
    """

    def __init__(self, *, every: int, most_pages: int = MAX_PAGES) -> None:
        self._every = every
        self._most_pages = most_pages
        self._new_pages = 0
        self._links: dict[str, list[str]] = {}
        self._relevance: dict[str, float] = {}
        self._lifts: dict[str, float] = {}

    def add(self, page: str, relevance: float, urls: Iterable[str]) -> None:
        self._links.pop(page, None)
        self._links[page] = [url for url in dict.fromkeys(urls) if url != page]
        self._relevance[page] = relevance
        self._new_pages += 1
        while len(self._links) > self._most_pages:
            oldest = next(iter(self._links))
            del self._links[oldest], self._relevance[oldest]

    def revise(self, revisions: Sequence[Revision]) -> None:
        for revision in revisions:
            if revision.url in self._relevance:
                self._relevance[revision.url] = revision.judgement.reward

    def lift(self, url: str) -> float:
        return self._lifts.get(url, 0.0)

    def distill(self) -> dict[str, ScoreChange]:
        """Compute hubs when that is due; return the bonuses that changed."""
        if self._new_pages < self._every:
            return {}
        self._new_pages = 0
        before, self._lifts = self._lifts, dict(self._new_lifts())
        urls = dict.fromkeys([*before, *self._lifts])
        changes = {url: ScoreChange(before.get(url, 0.0), self.lift(url)) for url in urls}
        return {url: change for url, change in changes.items() if change.was != change.now}

    def hubs(self) -> dict[str, float]:
        """Return the best hubs with their scores, the greatest of which is 1."""
        pages = list(self._links)
        number = {page: place for place, page in enumerate(pages)}
        edges = [(number[u], number[v]) for u, links in self._links.items() for v in links if v in number]
        weights = np.array([self._relevance[page] for page in pages])
        h, _ = LinkGraph.from_edges(len(pages), edges).hits(weights, iterations=ITERATIONS)
        best = np.argsort(-h, kind="stable")[:TOP_HUBS].tolist()
        return {pages[u]: float(h[u]) for u in best if h[u] > 0}

    def _new_lifts(self) -> Mapping[str, float]:
        return self._lifts_of(self.hubs())

    def _lifts_of(self, hubs: Mapping[str, float]) -> dict[str, float]:
        """Return bonuses for the unfetched links of hubs, in proportion to the sum of the hubs' scores."""
        sums: dict[str, float] = {}
        for hub, score in hubs.items():
            for url in self._links[hub]:
                if url not in self._relevance:
                    sums[url] = sums.get(url, 0.0) + score
        most = max(sums.values(), default=1.0)
        return {url: LIFT * value / most for url, value in sums.items()}
