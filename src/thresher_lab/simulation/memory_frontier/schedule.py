"""Hosts of a `MemoryFrontier`: their queues, their stages, and when each may be requested."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import nsmallest

from thresher.frontier.base import FailureCount, HostEntry, UrlEntry, UrlState
from thresher.reasons.reason import NO_REASON, Reason
from thresher.records import RequestKind, StrategyData
from thresher_lab.simulation.memory_frontier.heap import LazyHeap


class HostStage(StrEnum):
    """Stage of a host, as described in `base.py`; a host without waiting URLs is empty."""

    EMPTY = "empty"
    READY = "ready"
    HELD = "held"
    DELAYED = "delayed"
    PARKED = "parked"


@dataclass(slots=True, eq=False)
class Url:
    """A URL with its state; `found` counts how often it was found, for the mean score."""

    url: str
    fingerprint: int
    host: Host
    age: int
    score: float
    strategy_data: StrategyData
    depth_left: int
    hops: int
    redirects: int
    parent: int
    kind: RequestKind
    for_host: str
    found: int = 1
    tries: int = 0
    unbegun: int = 0
    state: UrlState = UrlState.WAITING
    reason: Reason = NO_REASON
    lease_end: float = 0.0
    begun: bool = False

    def host_free_time(self) -> float:
        """Return when the host may be requested again if the lease of this URL expires."""
        return max(self.host.next_time, self.lease_end + self.host.delay_seconds)

    def entry(self) -> UrlEntry:
        return UrlEntry(
            url=self.url,
            host=self.host.key,
            state=self.state,
            score=self.score,
            hops=self.hops,
            depth_left=self.depth_left,
            parent=self.parent,
            tries=self.tries,
            reason=self.reason,
        )


@dataclass(slots=True, eq=False)
class Host:
    """A host with its waiting URLs and counters."""

    key: str
    delay_seconds: float
    next_time: float = 0.0
    parked: Reason = NO_REASON
    park_end: float = 0.0
    stage: HostStage = HostStage.EMPTY
    leased: int = 0
    pages: int = 0
    relevant: int = 0
    failed: int = 0
    waiting: LazyHeap[Url] = field(default_factory=LazyHeap)
    worst: LazyHeap[Url] | None = None  # waiting URLs, worst first; built when the host is full for the first time

    def enqueue(self, url: Url) -> None:
        """Add a URL to the waiting ones, or update its place after its score changed."""
        self.waiting.push(url, -url.score, url.age)
        if self.worst is not None:
            self.worst.push(url, url.score, -url.age)

    def dequeue(self, url: Url) -> None:
        self.waiting.remove(url)
        if self.worst is not None:
            self.worst.remove(url)

    def worst_url(self) -> Url | None:
        """Return the waiting URL with the lowest score; among equals the youngest."""
        if self.worst is None:
            self.worst = LazyHeap()
            for url in self.waiting:
                self.worst.push(url, url.score, -url.age)
        return self.worst.first()

    def leave_alone(self, now: float, seconds: float) -> None:
        """Set the delay and start it."""
        self.delay_seconds = seconds
        self.next_time = max(self.next_time, now + seconds)

    def wake_time(self) -> float:
        """Return when the stage changes by time alone; `inf` for never."""
        if self.stage is HostStage.PARKED:
            return self.park_end
        return self.next_time if self.stage is HostStage.DELAYED else math.inf

    def entry(self, now: float) -> HostEntry:
        best = self.waiting.first()
        park_end = self.park_end if self.park_end < math.inf else 0.0
        return HostEntry(
            host=self.key,
            waiting=len(self.waiting),
            leased=self.leased,
            pages=self.pages,
            relevant=self.relevant,
            failed=self.failed,
            delay_seconds=self.delay_seconds,
            next_seconds=max(0.0, self.next_time - now, park_end - now),
            best=best.score if best else None,
            parked=self.parked if self.park_end > now else NO_REASON,
        )

    def parked_count(self, now: float) -> FailureCount | None:
        """Count the URLs that wait because the host is parked; None when it is not parked or has none."""
        if self.park_end <= now or not len(self.waiting):
            return None
        retry_seconds = max(self.park_end, self.next_time) - now if self.park_end < math.inf else None
        return FailureCount(
            host=self.key, reason=self.parked, urls=len(self.waiting), waiting=True, retry_seconds=retry_seconds
        )


class Schedule:
    """Ready hosts by their best URL, and sleeping hosts by their wake time."""

    def __init__(self, leases_per_host: int) -> None:
        self.stages: Counter[HostStage] = Counter()
        self._leases_per_host = leases_per_host
        self._ready: LazyHeap[Host] = LazyHeap()
        self._asleep: LazyHeap[Host] = LazyHeap()

    def place(self, host: Host, now: float) -> None:
        """Update the stage of a host and its place in the queues; to be called after every change to it."""
        self.stages[host.stage] -= 1
        host.stage = self._stage(host, now)
        self.stages[host.stage] += 1
        self._ready.remove(host)
        self._asleep.remove(host)
        best = host.waiting.first()
        if host.stage is HostStage.READY and best:
            self._ready.push(host, -best.score, best.age)
        elif host.wake_time() < math.inf:
            self._asleep.push(host, host.wake_time())

    def best_ready(self) -> Host | None:
        return self._ready.first()

    def first_ready(self, limit: int) -> list[Host]:
        """Return the ready hosts with the best URLs, best first."""
        ready = [(best, host) for host in self._ready if (best := host.waiting.first())]
        return [host for _, host in nsmallest(limit, ready, key=lambda pair: (-pair[0].score, pair[0].age))]

    def wake(self, now: float) -> None:
        """Update the stages of hosts whose wake time has passed."""
        while (host := self._asleep.first()) and host.wake_time() <= now:
            self.place(host, now)

    def next_time(self) -> float:
        """Return when the next host is ready: `-inf` for now, `inf` when time alone makes none ready."""
        if self._ready:
            return -math.inf
        sleeper = self._asleep.first()
        return sleeper.wake_time() if sleeper else math.inf

    def _stage(self, host: Host, now: float) -> HostStage:
        if not host.waiting:
            return HostStage.EMPTY
        if host.park_end > now:
            return HostStage.PARKED
        if host.leased >= self._leases_per_host:
            return HostStage.HELD
        return HostStage.DELAYED if host.next_time > now else HostStage.READY
