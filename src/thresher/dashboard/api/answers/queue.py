"""The queue: what waits, and the hosts that it waits for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from thresher.dashboard.api.answers.base import Answer, Parts


class UrlEntry(Answer):
    """A URL in the queue."""

    url: str
    host: str
    state: Literal["waiting", "leased", "done", "failed"]
    score: float
    hops: int
    depth_left: int
    parent: int
    tries: int
    reason: str


class Bucket(Answer):
    """How many waiting URLs have a score between two."""

    low: float
    high: float
    count: int


class NextUrl(Answer):
    """A URL that comes next, and where it was found."""

    url: str
    host: str
    score: float
    hops: int
    tries: int
    anchor: str
    parts: Parts
    parent: str
    parent_title: str


class Frontier(Answer):
    """What waits."""

    histogram: list[Bucket]
    waiting: int
    sampled: bool = Field(description="Whether the histogram was made from a part of what waits.")
    next: list[NextUrl]


class Robots(Answer):
    """What a host's robots.txt said."""

    state: Literal["unknown", "read", "none", "unreadable", "elsewhere", "ignored"]
    status: int | None
    reason: str
    tries: int
    target: str


class Host(Answer):
    """A host."""

    host: str
    waiting: int
    leased: int
    pages: int
    relevant: int
    failed: int
    harvest_rate: float
    delay_seconds: float
    next_seconds: float
    best: float | None
    parked: str
    left_alone: dict[str, str]
    robots: Robots


class Hosts(Answer):
    """Hosts."""

    hosts: list[Host]
