"""A frontier so plain that it can be read as the specification: lists, dictionaries and `min`."""

import math
from dataclasses import dataclass, field

from thresher.frontier.base import MAX_TRIES, MAX_UNBEGUN, Absence, Counts, HostEntry, Merge, UrlEntry, UrlState
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Candidate, Lease, Outcome, Settlement
from thresher.urls.canonical import fingerprint, host_key


@dataclass
class ModelUrl:
    found: Candidate  # with the values that won
    age: int
    times_found: int = 1
    state: UrlState = UrlState.WAITING
    tries: int = 0
    unbegun: int = 0
    reason: Reason = NO_REASON

    @property
    def host(self) -> str:
        return host_key(self.found.url)

    @property
    def rank(self) -> tuple[float, int]:
        return (-self.found.score, self.age)

    def entry(self) -> UrlEntry:
        return UrlEntry(
            url=self.found.url,
            host=self.host,
            state=self.state,
            score=self.found.score,
            hops=self.found.hops,
            depth_left=self.found.depth_left,
            parent=self.found.parent,
            tries=self.tries,
            reason=self.reason,
        )


@dataclass
class ModelHost:
    delay_seconds: float
    next_time: float = 0.0
    parked: Reason = NO_REASON
    park_end: float = 0.0
    pages: int = 0
    relevant: int = 0
    failed: int = 0


@dataclass
class Model:
    merge: Merge = Merge.MAX
    leases_per_host: int = 1
    waiting_per_host: int = 10_000
    delay_seconds: float = 0.0
    urls: dict[str, ModelUrl] = field(default_factory=dict)
    hosts: dict[str, ModelHost] = field(default_factory=dict)
    leases: dict[int, Lease] = field(default_factory=dict)
    begun: set[int] = field(default_factory=set)
    contents: dict[int, int] = field(default_factory=dict)
    dropped: int = 0
    evicted: set[str] = field(default_factory=set)
    ages: int = 0
    fences: int = 0

    # What changes it

    def add(self, candidates) -> int:
        new = sum([self.let_in(candidate) for candidate in candidates])
        self.trim()
        return new

    def let_in(self, candidate: Candidate) -> bool:
        self.ages += 1
        self.host(host_key(candidate.url))
        known = self.urls.get(candidate.url)
        if known is None:
            self.urls[candidate.url] = ModelUrl(candidate, self.ages)
            self.evicted.discard(candidate.url)
        elif known.state is UrlState.WAITING:
            self.find_again(known, candidate)
        return known is None

    def find_again(self, known: ModelUrl, candidate: Candidate) -> None:
        old, new = known.found, candidate
        winner = new if new.score > old.score and self.merge is not Merge.FIRST else old
        score = winner.score
        if self.merge is Merge.MEAN:
            score = (old.score * known.times_found + new.score) / (known.times_found + 1)
            known.times_found += 1
        known.found = Candidate(
            url=old.url,
            score=score,
            strategy_data=winner.strategy_data,
            parent=winner.parent,
            redirects=winner.redirects,
            depth_left=max(old.depth_left, new.depth_left),
            hops=min(old.hops, new.hops),
            kind=max(old.kind, new.kind),
            for_host=winner.for_host,
        )

    def lease(self, limit: int, seconds: float, now: float, pages: int | None = None) -> list[Lease]:
        for lease in [lease for lease in self.leases.values() if lease.until <= now]:
            self.lose(lease)
        self.trim()
        if pages is not None:
            limit = min(limit, pages - self.pages_under_way())
        granted = []
        while len(granted) < limit and (ready := self.ready(now)):
            granted.append(self.hand_out(min(ready, key=lambda url: url.rank), now + seconds))
        return granted

    def hand_out(self, url: ModelUrl, until: float) -> Lease:
        self.fences += 1
        url.state = UrlState.LEASED
        host = self.hosts[url.host]
        lease = Lease(
            url=url.found.url,
            host=url.host,
            score=url.found.score,
            fence=self.fences,
            until=until,
            strategy_data=url.found.strategy_data,
            depth_left=url.found.depth_left,
            hops=url.found.hops,
            redirects=url.found.redirects,
            parent=url.found.parent,
            kind=url.found.kind,
            for_host=url.found.for_host,
            tries=url.tries,
            host_pages=host.pages,
            host_relevant=host.relevant,
        )
        self.leases[lease.fence] = lease
        return lease

    def lose(self, lease: Lease) -> None:
        del self.leases[lease.fence]
        host = self.hosts[lease.host]
        host.next_time = max(host.next_time, lease.until + host.delay_seconds)
        url = self.urls[lease.url]
        if lease.fence in self.begun:
            self.count_try(lease, Reason.of(ReasonKind.WORKER_LOST, url.tries + 1))
        else:
            url.unbegun += 1
            self.wait_or_fail(lease, Reason.of(ReasonKind.LEASE_EXPIRED, url.unbegun))

    def count_try(self, lease: Lease, reason: Reason) -> None:
        self.urls[lease.url].tries += 1
        self.wait_or_fail(lease, reason)

    def wait_or_fail(self, lease: Lease, reason: Reason) -> None:
        url = self.urls[lease.url]
        if url.tries < MAX_TRIES and url.unbegun < MAX_UNBEGUN:
            url.state = UrlState.WAITING
        else:
            url.state, url.reason = UrlState.FAILED, reason
            self.hosts[lease.host].failed += 1

    def begin(self, leases, now: float) -> None:
        self.begun |= {lease.fence for lease in leases if self.holds(lease, now)}

    def holds(self, lease: Lease, now: float) -> bool:
        return lease.fence in self.leases and lease.until > now

    def commit(self, settlements, now: float) -> list[bool]:
        settled = [self.settle(settlement, now) for settlement in settlements]
        self.trim()
        return settled

    def settle(self, settlement: Settlement, now: float) -> bool:
        lease = settlement.lease
        if not self.holds(lease, now):
            return False
        del self.leases[lease.fence]
        url, host = self.urls[lease.url], self.hosts[lease.host]
        url.reason = settlement.reason
        if settlement.outcome is Outcome.RETRY:
            self.count_try(lease, settlement.reason)
        else:
            url.state = UrlState(settlement.outcome)
            host.failed += settlement.outcome is Outcome.FAILED
        host.pages += settlement.page
        host.relevant += settlement.page and settlement.relevant
        self.leave_alone(host, settlement.delay_seconds, now)
        if settlement.park:
            host.parked, host.park_end = settlement.park, math.inf
        if settlement.content:
            self.contents.setdefault(settlement.content, fingerprint(lease.url))
        for link in settlement.links:
            self.let_in(link)
        return True

    def leave_alone(self, host: ModelHost, seconds: float, now: float) -> None:
        host.delay_seconds = seconds
        host.next_time = max(host.next_time, now + seconds)

    def release(self, leases, delay_seconds: float, now: float) -> None:
        for lease in leases:
            if self.holds(lease, now):
                del self.leases[lease.fence]
                self.urls[lease.url].state = UrlState.WAITING
                if delay_seconds > 0:
                    self.leave_alone(self.hosts[lease.host], delay_seconds, now)
        self.trim()

    def park(self, key: str, reason: Reason, seconds: float | None, now: float) -> None:
        host = self.host(key)
        host.parked = reason
        host.park_end = math.inf if seconds is None else now + seconds

    def unpark(self, key: str) -> None:
        if key in self.hosts:
            self.hosts[key].parked, self.hosts[key].park_end = NO_REASON, 0.0

    def adjust_relevant(self, changes) -> None:
        for key, change in changes.items():
            if key in self.hosts:
                host = self.hosts[key]
                host.relevant = max(0, min(host.pages, host.relevant + change))

    def rescore(self, scores, was=None) -> int:
        waited = [url for url in self.waiting() if url.found.url in scores]
        for url in waited:
            old = url.found
            if was is not None and abs(was[old.url] - old.score) >= 1e-6:
                continue
            url.found = Candidate(
                url=old.url,
                score=scores[old.url],
                strategy_data=old.strategy_data,
                parent=old.parent,
                redirects=old.redirects,
                depth_left=old.depth_left,
                hops=old.hops,
                kind=old.kind,
                for_host=old.for_host,
            )
        return len(waited)

    def trim(self) -> None:
        for key in self.hosts:
            waiting = sorted(self.waiting(key), key=lambda url: url.rank)
            for url in waiting[self.waiting_per_host :]:
                del self.urls[url.found.url]
                self.evicted.add(url.found.url)
                self.dropped += 1

    def host(self, key: str) -> ModelHost:
        return self.hosts.setdefault(key, ModelHost(self.delay_seconds))

    # What can be asked

    def pages_under_way(self) -> int:
        return sum(host.pages for host in self.hosts.values()) + len(self.leases)

    def waiting(self, key: str | None = None) -> list[ModelUrl]:
        return [url for url in self.urls.values() if url.state is UrlState.WAITING and key in (None, url.host)]

    def ready(self, now: float) -> list[ModelUrl]:
        return [url for url in self.waiting() if self.stage(url.host, now) == "ready"]

    def open_leases(self, key: str) -> list[Lease]:
        return [lease for lease in self.leases.values() if lease.host == key]

    def stage(self, key: str, now: float) -> str:
        host = self.hosts[key]
        if not self.waiting(key):
            return "empty"
        if host.park_end > now:
            return "parked"
        if len(self.open_leases(key)) >= self.leases_per_host:
            return "held"
        return "delayed" if host.next_time > now else "ready"

    def peek(self, limit: int, below: float = math.inf) -> list[UrlEntry]:
        ranked = sorted((url for url in self.waiting() if url.found.score < below), key=lambda url: url.rank)
        return [url.entry() for url in ranked[:limit]]

    def find(self, url: str) -> UrlEntry | None:
        return self.urls[url].entry() if url in self.urls else None

    def absences(self, urls) -> list[Absence | None]:
        return [Absence.EVICTED if url in self.evicted else None for url in urls]

    def counts(self, now: float) -> Counts:
        states = [url.state for url in self.urls.values()]
        stages = [self.stage(key, now) for key in self.hosts]
        return Counts(
            waiting=states.count(UrlState.WAITING),
            leased=states.count(UrlState.LEASED),
            done=states.count(UrlState.DONE),
            failed=states.count(UrlState.FAILED),
            dropped=self.dropped,
            pages=sum(host.pages for host in self.hosts.values()),
            relevant=sum(host.relevant for host in self.hosts.values()),
            hosts=len(self.hosts),
            ready=stages.count("ready"),
            delayed=stages.count("delayed"),
            parked=stages.count("parked"),
        )

    def host_entries(self, now: float) -> list[HostEntry]:
        entries = [self.host_entry(key, now) for key in self.hosts]
        return sorted(entries, key=lambda entry: (-entry.pages, entry.host))

    def host_entry(self, key: str, now: float) -> HostEntry:
        host = self.hosts[key]
        timed = host.park_end if host.park_end < math.inf else 0.0
        return HostEntry(
            host=key,
            waiting=len(self.waiting(key)),
            leased=len(self.open_leases(key)),
            pages=host.pages,
            relevant=host.relevant,
            failed=host.failed,
            delay_seconds=host.delay_seconds,
            next_seconds=max(0.0, host.next_time - now, timed - now),
            best=max((url.found.score for url in self.waiting(key)), default=None),
            parked=host.parked if host.park_end > now else NO_REASON,
        )

    def seconds_to_next(self, now: float) -> float | None:
        times = []
        for key, host in self.hosts.items():
            stage = self.stage(key, now)
            if stage in ("ready", "delayed"):
                times.append(host.next_time)
            if stage == "parked":
                times.append(host.park_end)
            if host.park_end < math.inf:
                times += [max(host.next_time, lease.until + host.delay_seconds) for lease in self.open_leases(key)]
        first = min(times, default=math.inf)
        return max(0.0, first - now) if first < math.inf else None
