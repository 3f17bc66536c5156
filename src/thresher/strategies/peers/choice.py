"""A turn at a time: how a strategy that draws the next URL by itself goes with a queue that orders by score.

Links wait at scores from 0 to 1. After each page the strategy chooses one link, which is lifted above all others and so
is fetched next. Where several pages are under way at a time, each of them brings one choice; when the host of a chosen
link may not be asked yet, the queue goes on with the best of what waits.
"""

from __future__ import annotations

from collections.abc import Callable

from thresher.records import Lease
from thresher.strategies.base import Change

CHOSEN_SCORE = 2.0
SEED_SCORE = 3.0
"""Seeds come before the first choice counts: it would be made from the links of one page."""

Found = tuple[str, float]
"""A URL, and the score at which it waits."""


class Choice:
    """Says when it is time to choose."""

    def __init__(self) -> None:
        self._is_due = False
        self._chosen = ""

    def came(self, lease: Lease) -> None:
        """Note that a page came, or never will; while seeds come, one choice is enough."""
        if lease.url == self._chosen:
            self._chosen = ""
        if lease.hops > 0 or not self._chosen:
            self._is_due = True

    def lift(self, choose: Callable[[], Found | None]) -> dict[str, Change]:
        """Choose when it is time, and lift what was chosen."""
        found = choose() if self._is_due else None
        self._is_due = False
        if found is None:
            return {}
        self._chosen, was = found
        return {self._chosen: Change(was, CHOSEN_SCORE)}
