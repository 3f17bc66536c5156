"""What the shards of a cluster could hand out, as of a moment ago.

Asking all shards before every lease would cost more than the leases. So their best scores are asked for a few times a
second, and used up meanwhile: the order is exact inside each shard, and over all shards as good as this picture is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from heapq import nlargest

HEADS = 32
"""How many scores each shard is asked for."""

FRESH_SECONDS = 0.25


class Heads:
    """The best scores of each shard, best first.

    Args:
        fresh_seconds: How long a picture serves.
        clock: Gives the time in seconds.
    """

    def __init__(self, *, fresh_seconds: float = FRESH_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._fresh_seconds = fresh_seconds
        self._clock = clock
        self._scores: list[list[float]] = []
        self._until = 0.0

    def take(self, scores: Sequence[list[float]]) -> None:
        """Take a new picture."""
        self._scores = [list(of_shard) for of_shard in scores]
        self._until = self._clock() + self._fresh_seconds

    def serves(self, limit: int) -> bool:
        """Tell whether the picture is fresh, and holds this many."""
        return self._clock() < self._until and sum(map(len, self._scores)) >= limit

    def best(self, limit: int) -> dict[int, int]:
        """Take the best out of the picture: how many from which shard."""
        ranked = ((score, -shard) for shard, scores in enumerate(self._scores) for score in scores)
        wanted: dict[int, int] = {}
        for _, minus_shard in nlargest(max(0, limit), ranked):
            wanted[-minus_shard] = wanted.get(-minus_shard, 0) + 1
        for shard, number in wanted.items():
            del self._scores[shard][:number]
        return wanted
