"""PageRank of waiting URLs, restarted at relevant pages; future work of FCMRPS.

Plain PageRank prefers popular pages of any topic. Here the random surfer restarts at crawled pages in proportion to
their relevance, so that a URL is important if important pages of the topic link to it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from thresher.linkgraph import LinkGraph
from thresher_papers.strategies.distiller import LIFT, Distiller


class PageRankLift(Distiller):
    """Computes the PageRank of waiting URLs from the links of the latest pages, and turns it into score bonuses.

    Args:
        every: Pages between two computations.
        most_pages: How many pages are remembered.
    """

    def ranks(self) -> dict[str, float]:
        """Return the PageRank of all URLs that the latest pages link to and that were not fetched."""
        numbers = {page: number for number, page in enumerate(self._links)}
        for links in self._links.values():
            for url in links:
                numbers.setdefault(url, len(numbers))
        edges = [(numbers[page], numbers[url]) for page, links in self._links.items() for url in links]
        restart = np.zeros(len(numbers))
        restart[: len(self._links)] = [self._relevance[page] for page in self._links]
        ranks = LinkGraph.from_edges(len(numbers), edges).pagerank(restart).tolist()
        return {url: ranks[number] for url, number in numbers.items() if url not in self._relevance}

    def _new_lifts(self) -> Mapping[str, float]:
        ranks = self.ranks()
        most = max(ranks.values(), default=0.0)
        return {url: LIFT * rank / most for url, rank in ranks.items() if rank > 0}
