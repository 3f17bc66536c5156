"""The contract of strategies: structural protocols, and a base class with the defaults that most strategies share.

A strategy needs `Strategy` only. The other protocols are optional capabilities; they are detected by the methods that a
class has, so a plug-in need not inherit from anything. `registry.make` refuses a class with half of a capability or a
misspelt method of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from thresher.judges.base import StateStore
from thresher.records import Candidate, Forecast, Judgement, Lease, Merge, ParsedPage, RequestKind, Revision

HARVEST_FETCHES = 100
"""Latest fetches that the harvest of a forecast is summed over."""


class Strategy(Protocol):
    """Decides in which order links are followed.

    A strategy returns candidates; links that it leaves out are not followed. It sets `url`, `score`, `breakdown`,
    `strategy_data` and `depth_left` of a candidate; the pipeline fills in hops, parent and redirects.
    """

    merge: Merge
    """How scores are combined when a waiting URL is found again."""

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Return the seeds as candidates."""
        ...

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Return candidates for the links of a page; `lease` is the one that the page was fetched under."""
        ...


def seed_candidates(strategy: Strategy, urls: Sequence[str]) -> list[Candidate]:
    """Return the frontier entries of seeds."""
    return [seed._replace(kind=RequestKind.SEED) for seed in strategy.seeds(urls)]


class BaseStrategy(ABC):
    """Defaults for strategies: the best score of a URL counts, and seeds come first.

    It has no method of the optional protocols below: having one switches the capability on, which costs work.
    """

    merge: Merge = Merge.MAX
    seed_score: float = 1.0
    """Above all links of strategies that score from 0 to 1."""
    seed_depth: int = 0
    """`depth_left` of the seeds."""

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        return (Candidate(url=url, score=self.seed_score, depth_left=self.seed_depth) for url in urls)

    @abstractmethod
    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Return candidates for the links of a page."""


class ScoreChange(NamedTuple):
    """The old and the new score of a URL."""

    was: float
    now: float


@runtime_checkable
class Batched(Strategy, Protocol):
    """A strategy whose links wait below 0 until they move, a batch at a time, into the ready queue above it."""

    batch_size: int
    """How many links move when the ready queue is empty; 0 when links are ready at once."""


@runtime_checkable
class HandlesMisses(Strategy, Protocol):
    """A strategy that reacts to a URL whose page could not be fetched or is a duplicate."""

    def on_miss(self, lease: Lease) -> Iterable[Candidate]:
        """Return candidates to continue with; `lease` is the one that failed."""
        ...


@runtime_checkable
class Rescorer(Strategy, Protocol):
    """A strategy that scores waiting URLs again when the judge revises the pages that link to them."""

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Return new scores of URLs that were found on these pages, as far as the pages are remembered.

        Also called after every page, then without revisions, for score changes of the strategy's own.
        """
        ...


@runtime_checkable
class WarmStartable(Strategy, Protocol):
    """A strategy that can load pages of earlier runs, to score the links that were found on them again."""

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember a page that was judged in an earlier run, without learning from it a second time.

        Args:
            page: As it was stored; its links are those to URLs that are known to wait, or were fetched.
            waiting: Waiting URLs with their scores.
            outcomes: Fetched URLs with the relevance of their pages.
        """
        ...


@runtime_checkable
class Forecaster(Strategy, Protocol):
    """A strategy that can estimate, with measured coverage, how many waiting URLs lead to relevant pages."""

    def forecast(self, *, pages: int, harvest: float, waiting: int) -> Forecast | None:
        """Return a 90 % interval; None while too little is known.

        Args:
            pages: Pages of the crawl so far.
            harvest: Sum of the relevance of the latest `HARVEST_FETCHES` fetches.
            waiting: Number of waiting URLs.
        """
        ...


@runtime_checkable
class Stateful(Strategy, Protocol):
    """A strategy with state beyond what its URLs carry, which must survive a restart."""

    def load_state(self, state_store: StateStore) -> None:
        """Restore the state of an earlier run, and save it to this store now and then from here on."""
        ...

    def save_state(self) -> None:
        """Write the current state to the store."""
        ...


class SavedState(Protocol):
    """The part of a strategy that holds its state."""

    def load_state(self, state_store: StateStore) -> None:
        """Restore the state of an earlier run, and keep the store."""
        ...

    def page_done(self) -> None:
        """Count a page, and save the state when that is due."""
        ...

    def save_state(self) -> None:
        """Write the current state to the store."""
        ...


class StatefulStrategy(BaseStrategy):
    """A base class for strategies whose state is one object."""

    _state: SavedState

    def load_state(self, state_store: StateStore) -> None:
        self._state.load_state(state_store)

    def save_state(self) -> None:
        self._state.save_state()
