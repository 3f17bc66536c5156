"""In-memory frontier of one process: for simulated webs, tests, and crawls that are never resumed.

Three orders are kept: each host's waiting URLs by score, the ready hosts by their best URL, and the sleeping hosts by
their wake time. Every change ends in `_tidy`, which updates the place of the touched hosts in these orders.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from heapq import nsmallest

from thresher.frontier.base import (
    MAX_TRIES,
    MAX_UNBEGUN,
    Absence,
    Counts,
    FailureCount,
    HostEntry,
    Merge,
    UrlEntry,
    UrlState,
    check_scores,
    is_same_score,
)
from thresher.reasons.reason import NO_REASON, PAGES, Reason, ReasonKind
from thresher.records import Candidate, Lease, Outcome, Settlement
from thresher.urls.canonical import fingerprint, host_key
from thresher_lab.simulation.memory_frontier.heap import LazyHeap
from thresher_lab.simulation.memory_frontier.schedule import Host, HostStage, Schedule, Url

_Touched = dict[str, Host]


class MemoryFrontier:
    """A frontier in memory.

    Args:
        clock: Returns the time in seconds, for leases and delays.
        merge: How the score changes when a waiting URL is found again.
        leases_per_host: Maximum number of open leases of one host.
        waiting_per_host: Maximum number of waiting URLs of one host.
        delay_seconds: Delay of a host after an expired lease, until a settlement sets it.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        merge: Merge = Merge.MAX,
        leases_per_host: int = 1,
        waiting_per_host: int = 10_000,
        delay_seconds: float = 0.0,
    ) -> None:
        self._clock = clock
        self._merge = merge
        self._schedule = Schedule(leases_per_host)
        self._waiting_per_host = waiting_per_host
        self._delay_seconds = delay_seconds
        self._urls: dict[int, Url] = {}
        self._hosts: dict[str, Host] = {}
        self._leases: dict[int, Url] = {}
        self._lease_ends: LazyHeap[int] = LazyHeap()
        self._contents: dict[int, int] = {}
        self._shared_state: dict[tuple[str, str], tuple[str, float]] = {}
        self._locks: dict[str, float] = {}
        self._states: Counter[UrlState] = Counter()
        self._evicted: set[int] = set()
        self._pages = self._relevant = self._dropped = 0
        self._age = self._fence = 0

    async def add(self, candidates: Sequence[Candidate]) -> int:
        check_scores(candidate.score for candidate in candidates)
        touched: _Touched = {}
        new = sum([self._add(candidate, touched) for candidate in candidates])
        self._tidy(touched, self._clock())
        return new

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        now = self._clock()
        self._reap(now)
        if pages is not None:
            limit = min(limit, pages - self._pages - len(self._leases))
        self._schedule.wake(now)
        leases: list[Lease] = []
        while len(leases) < limit and (host := self._schedule.best_ready()):
            leases.append(self._new_lease(host, now + seconds))
            self._tidy({host.key: host}, now)
        return leases

    async def begin(self, leases: Sequence[Lease]) -> None:
        now = self._clock()
        for lease in leases:
            if url := self._held(lease, now):
                url.begun = True

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        check_scores(link.score for settlement in settlements for link in settlement.links)
        now = self._clock()
        touched: _Touched = {}
        settled = [self._settle(settlement, now, touched) for settlement in settlements]
        self._tidy(touched, now)
        return settled

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        now = self._clock()
        touched: _Touched = {}
        for lease in leases:
            if url := self._held(lease, now):
                touched[url.host.key] = self._end_lease(lease.fence)
                self._move(url, UrlState.WAITING)
                if delay_seconds > 0:
                    url.host.leave_alone(now, delay_seconds)
        self._tidy(touched, now)

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        now = self._clock()
        parked = self._host(host)
        parked.parked = reason
        parked.park_end = math.inf if seconds is None else now + seconds
        self._tidy({host: parked}, now)

    async def unpark(self, host: str) -> None:
        if known := self._hosts.get(host):
            known.parked, known.park_end = NO_REASON, 0.0
            self._tidy({host: known}, self._clock())

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        for key, change in changes.items():
            if host := self._hosts.get(key):
                before, host.relevant = host.relevant, max(0, min(host.pages, host.relevant + change))
                self._relevant += host.relevant - before

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        check_scores(scores.values())
        touched: _Touched = {}
        waiting = [(url, score) for text, score in scores.items() if (url := self._waiting(text))]
        for url, score in waiting:
            if was is None or is_same_score(was[url.url], url.score):
                self._set_score(url, score)
                touched[url.host.key] = url.host
        self._tidy(touched, self._clock())
        return len(waiting)

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        ceiling = math.inf if below is None else below
        waiting = (url for host in self._hosts.values() for url in host.waiting if url.score < ceiling)
        return [url.entry() for url in nsmallest(limit, waiting, key=lambda url: (-url.score, url.age))]

    async def find(self, url: str) -> UrlEntry | None:
        known = self._urls.get(fingerprint(url))
        return known.entry() if known else None

    async def absences(self, urls: Sequence[str]) -> list[Absence | None]:
        return [Absence.EVICTED if fingerprint(url) in self._evicted else None for url in urls]

    async def counts(self) -> Counts:
        self._schedule.wake(self._clock())
        return Counts(
            waiting=self._states[UrlState.WAITING],
            leased=self._states[UrlState.LEASED],
            done=self._states[UrlState.DONE],
            failed=self._states[UrlState.FAILED],
            dropped=self._dropped,
            pages=self._pages,
            relevant=self._relevant,
            hosts=len(self._hosts),
            ready=self._schedule.stages[HostStage.READY],
            delayed=self._schedule.stages[HostStage.DELAYED],
            parked=self._schedule.stages[HostStage.PARKED],
        )

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        now = self._clock()
        first = nsmallest(limit, self._hosts.values(), key=lambda host: (-host.pages, host.key))
        return [host.entry(now) for host in first]

    async def find_host(self, host: str) -> HostEntry | None:
        known = self._hosts.get(host)
        return known.entry(self._clock()) if known else None

    async def failures(self) -> list[FailureCount]:
        failed = Counter((url.host.key, url.reason) for url in self._urls.values() if url.state is UrlState.FAILED)
        counted = [FailureCount(host=host, reason=reason, urls=urls) for (host, reason), urls in failed.items()]
        parked = (host.parked_count(self._clock()) for host in self._hosts.values())
        return [*counted, *filter(None, parked)]

    async def next_hosts(self, limit: int) -> list[str]:
        self._schedule.wake(self._clock())
        return [host.key for host in self._schedule.first_ready(limit)]

    async def seconds_to_next(self) -> float | None:
        now = self._clock()
        self._schedule.wake(now)
        times = [self._schedule.next_time()]
        times += [url.host_free_time() for url in self._leases.values() if url.host.park_end < math.inf]
        first = min(times, default=math.inf)
        return max(0.0, first - now) if first < math.inf else None

    async def content_owner(self, content: int) -> int:
        return self._contents.get(content, 0)

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        self._shared_state[host, kind] = (value, self._clock() + seconds)

    async def get_state(self, host: str, kind: str) -> str | None:
        value, end = self._shared_state.get((host, kind), ("", -math.inf))
        return value if end > self._clock() else None

    async def acquire_lock(self, name: str, *, seconds: float) -> float:
        now = self._clock()
        wait = max(0.0, self._locks.get(name, 0.0) - now)
        if not wait:
            self._locks[name] = now + seconds
        return wait

    async def release_lock(self, name: str, *, delay_seconds: float) -> None:
        self._locks[name] = self._clock() + delay_seconds

    async def identify(self, crawl_id: str) -> str:
        return self._shared_state.setdefault(("", "crawl id"), (crawl_id, math.inf))[0]

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        known = filter(None, (self._urls.get(fingerprint(candidate.url)) for candidate in candidates))
        settled = [url for url in known if url.state in (UrlState.DONE, UrlState.FAILED)]
        for url in settled:
            self._uncount(url)
            self._move(url, UrlState.WAITING)
        self._tidy({url.host.key: url.host for url in settled}, self._clock())
        return len(settled)

    def _uncount(self, url: Url) -> None:
        pages = int(url.state is UrlState.DONE and url.reason.kind in PAGES)
        relevant = max(0, url.host.relevant - url.host.pages + pages)
        url.host.failed -= url.state is UrlState.FAILED
        url.host.pages, url.host.relevant = url.host.pages - pages, url.host.relevant - relevant
        self._pages, self._relevant = self._pages - pages, self._relevant - relevant
        url.tries, url.unbegun, url.reason = 0, 0, NO_REASON

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _add(self, candidate: Candidate, touched: _Touched) -> bool:
        number = fingerprint(candidate.url)
        self._age += 1
        url = self._urls.get(number)
        if url is None:
            self._urls[number] = url = self._new_url(candidate, number)
            self._evicted.discard(number)
            self._states[UrlState.WAITING] += 1
            url.host.enqueue(url)
        elif url.state is UrlState.WAITING:
            self._merge_into(url, candidate)
        touched[url.host.key] = url.host
        return url.age == self._age

    def _new_url(self, candidate: Candidate, number: int) -> Url:
        return Url(
            url=candidate.url,
            fingerprint=number,
            host=self._host(host_key(candidate.url)),
            age=self._age,
            score=candidate.score,
            strategy_data=candidate.strategy_data,
            depth_left=candidate.depth_left,
            hops=candidate.hops,
            redirects=candidate.redirects,
            parent=candidate.parent,
            kind=candidate.kind,
            for_host=candidate.for_host,
        )

    def _merge_into(self, url: Url, candidate: Candidate) -> None:
        url.depth_left = max(url.depth_left, candidate.depth_left)
        url.hops = min(url.hops, candidate.hops)
        url.kind = max(url.kind, candidate.kind)
        if self._merge is Merge.FIRST:
            return
        if candidate.score > url.score:
            url.strategy_data, url.parent, url.redirects = (
                candidate.strategy_data,
                candidate.parent,
                candidate.redirects,
            )
            url.for_host = candidate.for_host
        score = max(url.score, candidate.score)
        if self._merge is Merge.MEAN:
            score = (url.score * url.found + candidate.score) / (url.found + 1)
            url.found += 1
        self._set_score(url, score)

    def _set_score(self, url: Url, score: float) -> None:
        if score != url.score:
            url.score = score
            url.host.enqueue(url)

    def _move(self, url: Url, state: UrlState) -> None:
        self._states[url.state] -= 1
        self._states[state] += 1
        url.state = state
        url.host.failed += state is UrlState.FAILED
        if state is UrlState.WAITING:
            url.host.enqueue(url)

    def _waiting(self, text: str) -> Url | None:
        url = self._urls.get(fingerprint(text))
        return url if url and url.state is UrlState.WAITING else None

    def _new_lease(self, host: Host, lease_end: float) -> Lease:
        url = host.waiting.first()
        assert url is not None  # a ready host has a waiting URL
        host.dequeue(url)
        self._move(url, UrlState.LEASED)
        self._fence += 1
        self._leases[self._fence] = url
        self._lease_ends.push(self._fence, lease_end)
        url.lease_end, url.begun = lease_end, False
        host.leased += 1
        return Lease(
            url=url.url,
            host=host.key,
            score=url.score,
            fence=self._fence,
            until=lease_end,
            strategy_data=url.strategy_data,
            depth_left=url.depth_left,
            hops=url.hops,
            redirects=url.redirects,
            parent=url.parent,
            kind=url.kind,
            for_host=url.for_host,
            tries=url.tries,
            host_pages=host.pages,
            host_relevant=host.relevant,
        )

    def _held(self, lease: Lease, now: float) -> Url | None:
        url = self._leases.get(lease.fence)
        return url if url and url.lease_end > now else None

    def _end_lease(self, fence: int) -> Host:
        self._lease_ends.remove(fence)
        host = self._leases.pop(fence).host
        host.leased -= 1
        return host

    def _settle(self, settlement: Settlement, now: float, touched: _Touched) -> bool:
        url = self._held(settlement.lease, now)
        if url is None:
            return False
        host = touched[url.host.key] = self._end_lease(settlement.lease.fence)
        url.reason = settlement.reason
        if settlement.outcome is Outcome.RETRY:
            self._count_try(url, settlement.reason)
        else:
            self._move(url, UrlState(settlement.outcome))
        self._count_page(host, settlement)
        host.leave_alone(now, settlement.delay_seconds)
        if settlement.park:
            host.parked, host.park_end = settlement.park, math.inf
        if settlement.content:
            self._contents.setdefault(settlement.content, url.fingerprint)
        for link in settlement.links:
            self._add(link, touched)
        return True

    def _count_page(self, host: Host, settlement: Settlement) -> None:
        relevant = settlement.page and settlement.relevant
        host.pages += settlement.page
        host.relevant += relevant
        self._pages += settlement.page
        self._relevant += relevant

    def _count_try(self, url: Url, reason: Reason) -> None:
        url.tries += 1
        self._wait_or_fail(url, reason)

    def _wait_or_fail(self, url: Url, reason: Reason) -> None:
        if url.tries < MAX_TRIES and url.unbegun < MAX_UNBEGUN:
            self._move(url, UrlState.WAITING)
        else:
            url.reason = reason
            self._move(url, UrlState.FAILED)

    def _reap(self, now: float) -> None:
        """End expired leases; their URLs wait again or fail."""
        touched: _Touched = {}
        while (fence := self._lease_ends.first()) and (url := self._leases[fence]).lease_end <= now:
            url.host.next_time = url.host_free_time()
            touched[url.host.key] = self._end_lease(fence)
            if url.begun:
                self._count_try(url, Reason.of(ReasonKind.WORKER_LOST, url.tries + 1))
            else:
                url.unbegun += 1
                self._wait_or_fail(url, Reason.of(ReasonKind.LEASE_EXPIRED, url.unbegun))
        self._tidy(touched, now)

    def _host(self, key: str) -> Host:
        if key not in self._hosts:
            self._hosts[key] = Host(key=key, delay_seconds=self._delay_seconds)
            self._schedule.stages[HostStage.EMPTY] += 1
        return self._hosts[key]

    def _tidy(self, touched: _Touched, now: float) -> None:
        """Evict URLs of full hosts, then update the stage of each touched host."""
        for host in touched.values():
            self._trim(host)
            self._schedule.place(host, now)

    def _trim(self, host: Host) -> None:
        while len(host.waiting) > self._waiting_per_host and (url := host.worst_url()):
            host.dequeue(url)
            del self._urls[url.fingerprint]
            self._evicted.add(url.fingerprint)
            self._states[UrlState.WAITING] -= 1
            self._dropped += 1
