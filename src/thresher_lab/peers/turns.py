"""Turn-based choice: lets a strategy that chooses the next URL itself work with a queue that orders by score.

Links wait with scores from 0 to 1. After each page the strategy chooses one link, which is lifted above all others and
so is fetched next. With several open requests, each page triggers one choice; when the host of a chosen link is in its
delay, the queue continues with the best other link.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from thresher.records import Candidate, Lease, Merge, Revision
from thresher.strategies.base import ScoreChange, StatefulStrategy
from thresher_lab.peers.saved_state import StateSaver
from thresher_lab.peers.waiting_links import WaitingLinks

CHOSEN_SCORE = 2.0
SEED_SCORE = 3.0
"""Seeds come before the first choice, which would otherwise be made from the links of one page."""

Found = tuple[str, float]
"""A URL, and its score in the queue."""

Item = TypeVar("Item")
"""What a strategy remembers of a waiting link."""


class TurnScheduler:
    """Decides when a choice is due."""

    def __init__(self) -> None:
        self._is_due = False
        self._chosen = ""

    def on_result(self, lease: Lease) -> None:
        """Record that a page was fetched, or failed; while seeds are fetched, one choice is enough."""
        if lease.url == self._chosen:
            self._chosen = ""
        if lease.hops > 0 or not self._chosen:
            self._is_due = True

    def lift(self, choose: Callable[[], Found | None]) -> dict[str, ScoreChange]:
        """Choose when it is due, and lift the chosen link."""
        found = choose() if self._is_due else None
        self._is_due = False
        if found is None:
            return {}
        self._chosen, was = found
        return {self._chosen: ScoreChange(was, CHOSEN_SCORE)}


class TurnBasedStrategy(StatefulStrategy, Generic[Item]):
    """Base class of strategies that choose one link per turn; their state is saved with the crawl.

    Args:
        kind: The name of the saved entry.
    """

    merge = Merge.FIRST
    seed_score = SEED_SCORE

    def __init__(self, kind: str) -> None:
        self._waiting: WaitingLinks[Item] = WaitingLinks()
        self._choice = TurnScheduler()
        self._state = StateSaver(kind, self._write, self._read)

    def on_miss(self, lease: Lease) -> Iterator[Candidate]:
        """Forget a link whose fetch failed, and choose another."""
        self._choice.on_result(lease)
        self._waiting.leave(lease.url)
        return iter(())

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Choose the next link."""
        return self._choice.lift(self._choose)

    @abstractmethod
    def _choose(self) -> Found | None:
        """Choose one of the waiting links."""

    @abstractmethod
    def _write(self) -> bytes:
        """Return the learned state."""

    @abstractmethod
    def _read(self, content: bytes) -> None:
        """Restore the learned state."""
