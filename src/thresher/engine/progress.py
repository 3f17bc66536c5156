"""How a run stands, what may end it, and how its end is reported."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from thresher.failures import some
from thresher.frontier.base import Counts
from thresher.records import Forecast

HARVEST_PAGES = 500
"""Over how many of the last pages the harvest rate of the stop rule is taken."""

PATIENCE_SECONDS = 180.0
"""A run does not wait for hosts that rest longer than this; a later one will find them."""


NOTHING_FETCHED = 9
"""The exit code of a run that could fetch nothing, or almost nothing."""
LEAST_SHARE, LEAST_ATTEMPTS = 0.01, 100
"""Almost nothing: less than this share of at least so many attempts brought a page."""


class Ending(Enum):
    """Why a run ended, and what to do to go on.

    A limit that was asked for is no failure, so only a run that its user stopped has an exit code of its own here.
    """

    DONE = ("nothing is left to fetch", "", 0)
    RESTING = ("the remaining URLs wait for hosts that do not answer or are parked", "", 0)
    RELEVANT = ("the limit of relevant pages is reached", "", 0)
    HARVEST = ("the harvest rate fell below its limit", "", 0)
    PAGES = ("the page limit is reached", "Re-run with a higher limit to continue.", 0)
    MINUTES = ("the time limit is reached", "Re-run to continue.", 0)
    STOPPED = ("stopped by the user", "Re-run to continue.", 11)
    FORCED = ("stopped by the user at once", "Re-run to continue.", 13)

    def __init__(self, words: str, advice: str, exit_code: int) -> None:
        self.words = words
        self.advice = advice
        self.exit_code = exit_code

    @property
    def code(self) -> str:
        """The name for programs."""
        return self.name.lower()


def nothing_fetched(ending: Ending, before: Counts, after: Counts, *, is_refresh: bool, unreachable: bool) -> bool:
    """Tell whether a run could fetch nothing, or almost nothing, though there was something to fetch.

    It brought no page, and URLs failed or wait for hosts that do not answer; or the crawl has no page at all, and URLs
    failed in an earlier run; or less than 1 % of at least 100 attempts brought a page. In a refresh an unchanged page
    counts as fetched. A limit of pages, relevant pages or harvest that is reached is what was asked for.

    Args:
        unreachable: Whether URLs wait for hosts that do not answer, or want to be left alone for now.
    """
    if ending in (Ending.RELEVANT, Ending.HARVEST, Ending.PAGES, Ending.STOPPED, Ending.FORCED):
        return False
    failed = after.failed - before.failed
    fetched = after.done - before.done if is_refresh else after.pages - before.pages
    if fetched <= 0:
        return failed > 0 or unreachable or (not is_refresh and not after.pages and after.failed > 0)
    return fetched + failed >= LEAST_ATTEMPTS and fetched < LEAST_SHARE * (fetched + failed)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run ends; None where nothing is limited."""

    pages: int | None = None
    relevant: int | None = None
    minutes: float | None = None
    harvest_below: float | None = None

    def reached(self, counts: Counts) -> Ending:
        """Say why nothing more is fetched, when nothing is."""
        if self.relevant is not None and counts.relevant >= self.relevant:
            return Ending.RELEVANT
        if self.pages is not None and counts.pages >= self.pages and counts.waiting:
            return Ending.PAGES
        return Ending.RESTING if counts.waiting else Ending.DONE

    def exceeded(self, counts: Counts, *, seconds: float, harvest: float | None) -> Ending | None:
        """Say which rule ends the run now; the number of pages is kept where URLs are handed out."""
        if self.relevant is not None and counts.relevant >= self.relevant:
            return Ending.RELEVANT
        if self.minutes is not None and seconds >= self.minutes * 60:
            return Ending.MINUTES
        if self.harvest_below is not None and harvest is not None and harvest < self.harvest_below:
            return Ending.HARVEST
        return None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How a run stands.

    Args:
        seconds: For how long it runs.
        workers: How many work for it, on all machines.
        answered: Whether the store said so just now; else it is what it said last.
        forecast: How many of the waiting URLs lead to relevant pages; None when that is not known.
        paused: Whether somebody wishes that nothing new is fetched.
    """

    counts: Counts
    pages_per_second: float
    seconds: float
    workers: int
    answered: bool = True
    forecast: Forecast | None = None
    paused: bool = False

    @property
    def limit(self) -> str:
        """Say what limits the speed right now."""
        counts = self.counts
        if not self.answered:
            return "the store does not answer"
        if self.paused:
            return "paused"
        if not counts.pages and not counts.leased and counts.ready:
            return "starting"
        if counts.ready:
            return f"{some(self.workers, 'worker')} busy" if self.workers else "no worker has joined yet"
        if counts.delayed:
            return f"{some(counts.delayed, 'host')} waiting for {'its' if counts.delayed == 1 else 'their'} delay"
        if counts.leased:
            return f"waiting for {some(counts.leased, 'response')}"
        return f"{some(counts.parked, 'host')} parked or unreachable" if counts.parked else "the queue is empty"


@dataclass
class Pace:
    """Counts over time: the speed of the last seconds, the harvest of the last pages."""

    samples: deque[tuple[float, int, int]] = field(default_factory=lambda: deque(maxlen=20_000))

    def note(self, now: float, counts: Counts) -> None:
        """Take one more sample."""
        self.samples.append((now, counts.pages, counts.relevant))

    def pages_per_second(self, *, over: float = 5.0) -> float:
        """Return the speed of the last seconds."""
        if len(self.samples) < 2:
            return 0.0
        now, pages, _ = self.samples[-1]
        then, earlier, _ = next(sample for sample in self.samples if sample[0] >= now - over)
        return (pages - earlier) / (now - then) if now > then else 0.0

    def harvest(self) -> float | None:
        """Return the share of relevant pages among the last ones; None while there are too few."""
        if not self.samples:
            return None
        _, pages, relevant = self.samples[-1]
        earlier = next((s for s in reversed(self.samples) if s[1] <= pages - HARVEST_PAGES), None)
        return (relevant - earlier[2]) / (pages - earlier[1]) if earlier else None
