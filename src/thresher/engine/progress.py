"""How a run stands, what may end it, and in which words it says so."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from thresher.frontier.base import Counts
from thresher.records import Forecast

HARVEST_PAGES = 500
"""Over how many of the last pages the harvest rate of the stop rule is taken."""

PATIENCE_SECONDS = 180.0
"""A run does not wait for hosts that rest longer than this; a later one will find them."""


class Ending(Enum):
    """Why a run ended, and the exit code that says so."""

    DONE = ("nothing is left to fetch", 0)
    RESTING = ("what is left waits for hosts that rest or are parked; the same command goes on", 0)
    RELEVANT = ("the wanted number of relevant pages is reached", 0)
    HARVEST = ("the harvest fell below its limit", 0)
    STOPPED = ("stopped; the same command goes on", 11)
    FORCED = ("stopped at once; the same command goes on", 13)
    PAGES = ("the page limit is reached; URLs are left", 14)
    MINUTES = ("the time limit is reached; the same command goes on", 15)

    def __init__(self, words: str, exit_code: int) -> None:
        self.words = words
        self.exit_code = exit_code


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


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
        forecast: What the strategy expects of the rest; None when it cannot tell.
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
            return f"{_some(self.workers, 'worker')} busy" if self.workers else "no worker has come yet"
        if counts.delayed:
            return f"{_some(counts.delayed, 'host')} waiting for {'its' if counts.delayed == 1 else 'their'} delay"
        if counts.leased:
            return f"{_some(counts.leased, 'answer')} awaited"
        return f"{_some(counts.parked, 'host')} parked" if counts.parked else "nothing waits"


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
