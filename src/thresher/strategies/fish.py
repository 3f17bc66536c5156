"""Fish search: De Bra and Post, 1994, as in SURVEY, figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.depth import fish_depth


class Fish:
    """Follow the first links of a page, more of them from relevant pages, and give a path up when food is rare.

    How far a path may still lead is kept with its URL in the queue, so a restart and other workers go on with it.

    Args:
        width: How many links of an irrelevant page are followed before the rest.
        alpha: A relevant page has so many times as many.
        D: A path may lead over D + 1 irrelevant pages in a row.
    """

    merge = Merge.MAX

    def __init__(self, *, width: int = 10, alpha: float = 1.5, D: int = 3) -> None:
        self._width = width
        self._alpha = alpha
        self._D = D

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top, with the whole depth before them."""
        return (Candidate(url=url, score=1.0, depth_left=self._D) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give the first links 1 or 0.5, the rest 0; from a page at the end of its path nothing is followed."""
        depth = fish_depth(lease.depth_left, judgement.relevant, self._D)
        if depth is None:
            return
        first = ceil(self._alpha * self._width) if judgement.relevant else self._width
        potential_score = 1.0 if judgement.relevant else 0.5
        children = dict.fromkeys(link.url for link in page.links if link.url != page.url)
        for place, child in enumerate(children, start=1):
            score = potential_score if place <= first else 0.0
            parts = {"relevant page": float(judgement.relevant), "place": float(place)}
            yield Candidate(url=child, score=score, parts=parts, depth_left=depth)
