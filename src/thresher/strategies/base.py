"""What every strategy promises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from thresher.classify.base import Notebook
from thresher.records import Candidate, Forecast, Judgement, Lease, Merge, ParsedPage, Revision

HARVEST_FETCHES = 100
"""Over how many of the latest fetches the harvest of a forecast is taken."""


class Strategy(Protocol):
    """Decides in which order links are followed.

    A strategy answers with candidates; it may leave out links it does not want. `url`, `score`, `parts`, `carry` and
    `depth_left` of a candidate are the strategy's; hops, parent and redirects are filled in by the line.
    """

    merge: Merge
    """What becomes of the score when a waiting URL is found again."""

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Give the seeds their place in the queue."""
        ...

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Give the links of a page their place in the queue; `lease` is the one the page was fetched by."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """A new score of a URL, and the one that it replaces."""

    was: float
    now: float


@runtime_checkable
class Batcher(Strategy, Protocol):
    """A strategy whose links wait below 0 until they move, so many at a time, into the ready queue above it."""

    batch_size: int
    """How many move when the ready queue is empty; 0 when links are ready at once."""


@runtime_checkable
class Persistent(Strategy, Protocol):
    """A strategy that goes on from a URL whose page never comes, or comes as a copy of another."""

    def missed(self, lease: Lease) -> Iterable[Candidate]:
        """Say where to go on; `lease` is the one that was given up."""
        ...


@runtime_checkable
class Rescorer(Strategy, Protocol):
    """A strategy that scores waiting URLs again when the judge thinks differently of the pages that link to them."""

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Give new scores to URLs that were found on these pages, as far as their pages are remembered.

        Also asked after every page, then with nothing to revise, for what the strategy thinks again of its own accord.
        """
        ...


@runtime_checkable
class Recaller(Strategy, Protocol):
    """A strategy that can take up pages of earlier runs, to score again what was found on them."""

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember a page that was judged in an earlier run; nothing is learned from it once more.

        Args:
            page: As it was kept; its links are those to URLs that are known to wait, or were fetched.
            waiting: URLs that wait, with their scores.
            outcomes: URLs that were fetched, with the relevance of what they brought.
        """
        ...


@runtime_checkable
class Forecaster(Strategy, Protocol):
    """A strategy for which it was measured how many of the waiting URLs lead to relevant pages."""

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return a 90 % interval; None while too little is known.

        Args:
            pages: Pages of the crawl so far.
            harvest: Sum of the relevance of the latest `HARVEST_FETCHES` fetches.
            waiting: URLs that wait.
        """
        ...


@runtime_checkable
class Rememberer(Strategy, Protocol):
    """A strategy that knows more than what rides on its URLs, and must know it after a restart too."""

    def keep_in(self, notebook: Notebook) -> None:
        """Take up what was learned before, and write down what is learned from now on, every now and then."""
        ...

    def write_down(self) -> None:
        """Write down what was learned since the last time."""
        ...
