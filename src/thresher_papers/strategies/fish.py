"""Fish search: De Bra and Post, 1994, as in SURVEY, figure 1."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.strategies.depth_limit import fish_depth


class Fish(BaseStrategy):
    """Follow the first links of a page, more of them from relevant pages, and give up paths without relevant pages.

    The remaining depth of a path is stored with its URL in the queue, so it survives restarts and is shared by workers.

    Args:
        width: How many links of an irrelevant page are followed before the rest.
        alpha: The factor of `width` for a relevant page.
        D: A path may lead over D + 1 irrelevant pages in a row.
        slow_seconds: A page that took longer to fetch than this shortens its paths by one more page; 0 for never.
    """

    def __init__(self, *, width: int = 10, alpha: float = 1.5, D: int = 3, slow_seconds: float = 0) -> None:
        if slow_seconds < 0:
            raise ValueError(f"slow_seconds must be at least 0, got {slow_seconds}")
        self._slow_seconds = slow_seconds
        self._width = width
        self._alpha = alpha
        self._D = self.seed_depth = D

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score the first links 1 or 0.5, the rest 0; follow nothing from a page at the end of its path."""
        depth = fish_depth(lease.depth_left, judgement.relevant, self._D, slow=self._is_slow(lease))
        if depth is None:
            return
        first = ceil(self._alpha * self._width) if judgement.relevant else self._width
        potential_score = 1.0 if judgement.relevant else 0.5
        children = dict.fromkeys(link.url for link in page.links if link.url != page.url)
        for place, child in enumerate(children, start=1):
            score = potential_score if place <= first else 0.0
            breakdown = {"relevant page": float(judgement.relevant), "place": float(place)}
            yield Candidate(url=child, score=score, breakdown=breakdown, depth_left=depth)

    def _is_slow(self, lease: Lease) -> bool:
        return 0 < self._slow_seconds < lease.fetch_seconds
