"""The progress of a run, the limits that end it, and the reasons that are reported for its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import TypeVar

from thresher.coordination.last_run import MESSAGES
from thresher.coordination.last_run import NOTHING_FETCHED as NOTHING_FETCHED  # stands beside the other exit codes
from thresher.coordination.run_control import RunControl, begin, initial_limits
from thresher.frontier.base import Counts, CrawlStore
from thresher.locale.translation import AND, Translatable, _, joined
from thresher.status import CrawlStatus, SpeedLimit

N = TypeVar("N", int, float)

HARVEST_PAGES = 500
"""Window of the harvest rate that the stop rule uses, in pages."""

NOT_UPLOADED = 7
"""Exit code of a run that did its work, while pages or files wait on this machine for their upload."""
MIN_SHARE, MIN_ATTEMPTS = 0.01, 100
"""Almost nothing: less than this share of at least this many attempts returned a page."""


class StopReason(Enum):
    """Why a run ended, and how to continue it.

    Reaching a limit that the user set is no failure. A run that was stopped before its end, or that this machine left,
    has an exit code of its own: restart policies rely on it.
    """

    DONE = ("done", "", 0)
    HOSTS_UNAVAILABLE = ("resting", "", 0)
    RELEVANT = ("relevant", "", 0)
    TOPICS = ("topics", "", 0)
    HARVEST = ("harvest", "", 0)
    PAGES = ("pages", _("Re-run with a higher limit to continue."), 0)
    MINUTES = ("minutes", _("Re-run to continue."), 0)
    STOPPED = ("stopped", _("Re-run to continue."), 11)
    FORCED = ("forced", _("Re-run to continue."), 13)
    LEFT = ("left", _("Re-run to take part again."), 11)

    def __init__(self, code: str, advice: str, exit_code: int) -> None:
        self.code = code  # as scripts and stores know it
        self.message = MESSAGES[code]
        self.advice = advice
        self.exit_code = exit_code


@dataclass(frozen=True, kw_only=True)
class WaitingUploads:
    """What of this machine is not in the collection at the end of a run.

    Args:
        rows: Rows of the page store.
        files: Complete WARC files, labels, and the files that define the crawl.
        cause: The last error of the object storage, or that it did not answer.
        is_exact: Whether the storage answered in this run; otherwise rows and files may be fewer.
    """

    rows: int
    files: int
    cause: str
    is_exact: bool = True

    @property
    def message(self) -> Translatable:
        rows = [_("{n:,} row", "{n:,} rows", n=self.rows)] if self.rows else []
        files = [_("{n:,} file", "{n:,} files", n=self.files)] if self.files else []
        what = joined(AND, [*rows, *files]) or _("models or search segments")
        if self.is_exact:
            return _("{what} of this machine are not in the collection", what=what)
        return _("up to {what} of this machine are not in the collection", what=what)

    @property
    def notice(self) -> Translatable:
        """The same with the cause, and what to do."""
        return _(
            "{message}: {cause}. The next run here uploads them, or thresher verify --repair.",
            message=self.message.capitalized(),
            cause=self.cause,
        )


def nothing_fetched(
    stop_reason: StopReason, before: Counts, after: Counts, *, is_refresh: bool, unreachable: bool
) -> bool:
    """Return whether a run could fetch nothing, or almost nothing, although there were URLs to fetch.

    It fetched no page, and URLs failed or wait for hosts that do not answer; or the crawl has no page at all, and URLs
    failed in an earlier run; or less than 1 % of at least 100 attempts returned a page. In a refresh an unchanged page
    counts as fetched. Reaching a limit of pages, relevant pages or harvest is a success.

    Args:
        unreachable: Whether URLs wait for hosts that do not answer or are busy.
    """
    if stop_reason not in (StopReason.DONE, StopReason.HOSTS_UNAVAILABLE, StopReason.MINUTES):
        return False
    failed = after.failed - before.failed
    fetched = after.done - before.done if is_refresh else after.pages - before.pages
    if fetched <= 0:
        return failed > 0 or unreachable or (not is_refresh and not after.pages and after.failed > 0)
    return fetched + failed >= MIN_ATTEMPTS and fetched < MIN_SHARE * (fetched + failed)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a run ends; None means no limit."""

    pages: int | None = None
    relevant: int | None = None
    minutes: float | None = None
    harvest_below: float | None = None

    def reached(self, counts: Counts) -> StopReason:
        """Return why a run ended whose workers left by themselves."""
        if self.relevant is not None and counts.relevant >= self.relevant:
            return StopReason.RELEVANT
        if self.pages is not None and counts.pages >= self.pages and counts.waiting:
            return StopReason.PAGES
        return StopReason.HOSTS_UNAVAILABLE if counts.waiting else StopReason.DONE

    def exceeded(self, counts: Counts, *, seconds: float, harvest: float | None) -> StopReason | None:
        """Return the limit that ends the run now; the page limit is enforced by the frontier, when URLs are leased."""
        if self.relevant is not None and counts.relevant >= self.relevant:
            return StopReason.RELEVANT
        if self.minutes is not None and seconds >= self.minutes * 60:
            return StopReason.MINUTES
        if self.harvest_below is not None and harvest is not None and harvest < self.harvest_below:
            return StopReason.HARVEST
        return None


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A snapshot of a run.

    Args:
        status: As far as a live line shows it; after the end of the run with the failures.
        seconds: Since the start of the run.
        answered: Whether the store answered just now; if not, the numbers are its last answer.
        limits: When the run ends.
        recent_speed: Pages per second of the last minute, for the time that is left.
        is_rejudging: Whether all pages are judged again, after the last worker has left.
    """

    status: CrawlStatus
    pages_per_second: float
    seconds: float
    answered: bool = True
    limits: Limits = field(default_factory=Limits)
    recent_speed: float = 0.0
    is_rejudging: bool = False

    @property
    def seconds_left(self) -> float | None:
        """About how long until the limit of pages or of minutes is reached; None when unknown."""
        pages, minutes = self.limits.pages, self.limits.minutes
        left = [] if minutes is None else [minutes * 60 - self.seconds]
        if pages is not None and self.recent_speed > 0:
            left.append((pages - self.status.pages) / self.recent_speed)
        return max(0.0, min(left)) if left else None

    @property
    def limit(self) -> str:
        """What limits the speed now."""
        if self.is_rejudging:
            return _("judging all pages again; Ctrl-C skips this")
        if not self.answered:
            return SpeedLimit.NO_ANSWER.words()
        limit, number = self.status.limit
        return limit.words(number)


@dataclass
class Pace:
    """Counts over time: the speed of the last seconds, the harvest rate of the last pages."""

    samples: deque[tuple[float, int, int]] = field(default_factory=lambda: deque(maxlen=20_000))

    def add_sample(self, now: float, counts: Counts) -> None:
        self.samples.append((now, counts.pages, counts.relevant))

    def pages_per_second(self, *, over: float = 5.0) -> float:
        if len(self.samples) < 2:
            return 0.0
        now, pages, _ = self.samples[-1]
        then, earlier, _ = next(sample for sample in self.samples if sample[0] >= now - over)
        return (pages - earlier) / (now - then) if now > then else 0.0

    def harvest(self) -> float | None:
        """Return the share of relevant pages among the last `HARVEST_PAGES`; None while there are fewer."""
        if not self.samples:
            return None
        _, pages, relevant = self.samples[-1]
        earlier = next((s for s in reversed(self.samples) if s[1] <= pages - HARVEST_PAGES), None)
        return (relevant - earlier[2]) / (pages - earlier[1]) if earlier else None


async def negotiate_limits(frontier: CrawlStore, own: Limits, *, owner: bool, continues: bool = False) -> Limits:
    """Publish the limits of a run as its owner, or read the owner's; return the limits that apply on this machine.

    Args:
        continues: Whether the run is under way on other machines: what the user set meanwhile stays.
    """
    if owner:
        await begin(frontier, RunControl(**asdict(own)), continues=continues)
        return own
    return strictest(own, (await initial_limits(frontier)).limits())


def strictest(own: Limits, common: Mapping[str, float | None]) -> Limits:
    """Return the stricter one of each pair of limits."""
    pages, relevant = common.get("pages"), common.get("relevant")
    return Limits(
        pages=_first(min, own.pages, None if pages is None else int(pages)),
        relevant=_first(min, own.relevant, None if relevant is None else int(relevant)),
        minutes=_first(min, own.minutes, common.get("minutes")),
        harvest_below=_first(max, own.harvest_below, common.get("harvest_below")),
    )


def _first(choose: Callable[[N, N], N], one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def ordered_stop(name: str) -> StopReason | None:
    """Return the reason of an order to stop, None without one; an unknown reason still stops the run."""
    if not name:
        return None
    return StopReason[name] if name in StopReason.__members__ else StopReason.STOPPED
