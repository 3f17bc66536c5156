"""A turn at a time: how a strategy that draws the next URL by itself goes with a queue that orders by score.

Links wait at scores from 0 to 1. After each page the strategy chooses one link, which is lifted above all others and so
is fetched next. Where several pages are under way at a time, each of them brings one choice; when the host of a chosen
link may not be asked yet, the queue goes on with the best of what waits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from thresher.classify.base import Notebook
from thresher.records import Candidate, Lease, Merge, Revision
from thresher.strategies.base import Change
from thresher.strategies.peers.notes import Notes
from thresher.strategies.peers.waiting import Waiting

CHOSEN_SCORE = 2.0
SEED_SCORE = 3.0
"""Seeds come before the first choice counts: it would be made from the links of one page."""

Found = tuple[str, float]
"""A URL, and the score at which it waits."""

Item = TypeVar("Item")
"""What a strategy remembers of a link that waits."""


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


class ByTurns(ABC, Generic[Item]):
    """What the strategies have in common that choose a link a turn; what they learned is saved with the crawl.

    Args:
        kind: The name of what is saved.
    """

    merge = Merge.FIRST

    def __init__(self, kind: str) -> None:
        self._waiting: Waiting[Item] = Waiting()
        self._choice = Choice()
        self._notes = Notes(kind, self._write, self._read)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=SEED_SCORE) for url in urls)

    def missed(self, lease: Lease) -> Iterator[Candidate]:
        """Forget a link whose page never comes, and choose another."""
        self._choice.came(lease)
        self._waiting.leave(lease.url)
        return iter(())

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Choose what is fetched next."""
        return self._choice.lift(self._choose)

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with what was learned in an earlier run."""
        self._notes.keep_in(notebook)

    def write_down(self) -> None:
        """Write down what was learned."""
        self._notes.write_down()

    @abstractmethod
    def _choose(self) -> Found | None:
        """Choose one of the links that wait."""

    @abstractmethod
    def _write(self) -> bytes:
        """Give what was learned."""

    @abstractmethod
    def _read(self, content: bytes) -> None:
        """Take up what was learned before."""
