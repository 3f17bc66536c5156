"""How crawls stand: numbers, limits, the harvest, who works."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from thresher.dashboard.api.answers.base import Answer


class Counts(Answer):
    """The queue in numbers."""

    pages: int
    duplicates: int
    relevant: int
    expected: float | None
    waiting: int
    leased: int
    done: int
    failed: int
    dropped: int
    hosts: int
    ready: int
    delayed: int
    parked: int


class Limit(Answer):
    """What limits the speed, and a number that belongs to it."""

    code: Literal["starting", "busy", "delay", "answers", "parked", "nothing", "stopped", "paused", "no_answer"]
    number: int


class Budget(Answer):
    """When a run ends, and how far it is."""

    limit: float | None
    used: float | None


class BudgetList(Answer):
    """Every rule that may end a run."""

    pages: Budget
    relevant: Budget
    minutes: Budget
    harvest_below: Budget


class RelevantRange(Answer):
    """A 90 % interval for the relevant pages among the waiting URLs, computed when the crawl had so many pages."""

    pages: int
    least: int
    most: int


class Told(Answer):
    """How often people said yes and no."""

    yes: int
    no: int


class Ended(Answer):
    """How the last run ended."""

    code: str = Field(description="done, resting, pages, relevant, minutes, harvest, stopped, forced, error, killed.")
    words: str
    exit_code: int | None
    fetched: int = Field(description="Pages that the run brought.")
    at: float


class Failure(Answer):
    """URLs that brought no page for one reason."""

    reason: str
    cause: Literal["unreachable", "busy", "rules", "page"]
    urls: int
    failed: int
    waiting: int = Field(description="URLs that wait because their host is parked.")
    hosts: int
    examples: list[str] = Field(description="Some of the hosts.")
    retry_seconds: float | None
    words: str


class Status(Answer):
    """A crawl in numbers."""

    name: str
    title: dict[str, str]
    strategy: str
    judge: str
    shared: bool
    state: Literal["running", "paused", "stopped"]
    counts: Counts
    harvest_rate: float
    provisional: bool
    pages_per_second: float
    limit: Limit
    budgets: BudgetList
    forecast: RelevantRange | None
    labels: Told
    ended: Ended | None
    failures: list[Failure]
    can: list[Literal["start", "pause", "resume", "stop", "budgets"]]


class Crawls(Answer):
    """All crawls that are shown."""

    crawls: list[Status]


class Point(Answer):
    """A point of the harvest curve; the rate is that of the pages since the point before."""

    pages: int
    relevant: int
    rate: float


class Harvest(Answer):
    """Relevant pages against all that were fetched."""

    points: list[Point]
    pages: int
    relevant: int


class Worker(Answer):
    """Who works for a crawl."""

    name: str
    machine: str
    process: int
    pages: int
    since: float
    state: Literal["working", "waiting", "leaving", "silent", "stopped"]
    silent_seconds: float


class Workers(Answer):
    """All who work for a crawl."""

    workers: list[Worker]
