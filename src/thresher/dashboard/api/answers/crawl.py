"""How crawls stand: numbers, limits, the harvest, who works."""

from __future__ import annotations

from typing import Literal

from thresher.dashboard.api.answers.base import Answer


class Counts(Answer):
    """The queue in numbers."""

    pages: int
    relevant: int
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


class Ahead(Answer):
    """What the strategy expects of the rest."""

    left: float
    share_found: float
    next_yield: float


class Told(Answer):
    """How often people said yes and no."""

    yes: int
    no: int


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
    pages_per_second: float
    limit: Limit
    budgets: BudgetList
    forecast: Ahead | None
    labels: Told
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
