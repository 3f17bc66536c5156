"""Several workers on one frontier, in one process and on one virtual clock: a simulated cluster.

Every worker has its own pipeline, judge and strategy, fetches several pages at a time, and may die; a restarted one
continues with its saved state. A fetch takes time on the clock, computation takes none. The same seed gives the
same crawl, on any frontier that keeps its promises.

The plan of a fleet of virtual workers, and its result.

An audit of a virtual crawl: were delays kept, was the best URL leased, how fast could it have been?

It sees only what every worker sees, leases and outcomes, and periodically reads the hosts of the frontier.

State stores of virtual workers: in memory, with the delay of a shared store.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random

from thresher.frontier.base import CrawlStore, Frontier
from thresher.judges.base import Judge, Learner
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Lease
from thresher.storage.page_store import NoArchive
from thresher.strategies.base import Stateful, Strategy
from thresher_lab.simulation.simulator import SimulatedFetch, VirtualClock, WebResponder, rules_of
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web

Entry = tuple[float, bytes]
"""When it was written, and what."""


class VirtualStateStores:
    """The saved state of all workers of a fleet.

    Args:
        clock: Gives the virtual time.
        delay_seconds: Time until others can read an entry.
        shared: Whether they can at all; a worker's own entries outlive its death either way.
    """

    def __init__(self, clock: Callable[[], float], *, delay_seconds: float = 0.0, shared: bool = True) -> None:
        self._clock = clock
        self._delay_seconds = delay_seconds
        self._shared = shared
        self._entries: dict[tuple[str, str], list[Entry]] = {}
        self.largest: dict[str, int] = {}
        """The bytes of the largest entry of each kind."""
        self.writes: Counter[str] = Counter()
        """Number of writes per kind."""

    def of(self, worker: str, part: str) -> VirtualStateStore:
        """Open the state store of a worker's judge or strategy."""
        return VirtualStateStore(self, worker, part)

    def write(self, worker: str, kind: str, content: bytes) -> None:
        """Replace an entry; others read the previous one until the delay is over."""
        entries = self._entries.setdefault((worker, kind), [])
        entries.append((self._clock(), content))
        while len(entries) > 1 and self._has_arrived(entries[1]):
            entries.pop(0)
        self.largest[kind] = max(self.largest.get(kind, 0), len(content))
        self.writes[kind] += 1

    def read(self, worker: str, kind: str) -> bytes | None:
        """Return the latest entry of a worker."""
        entries = self._entries.get((worker, kind))
        return entries[-1][1] if entries else None

    def others(self, worker: str, kind: str) -> dict[str, Entry]:
        """Return the latest entry of every other worker that has arrived."""
        found = {}
        for (writer, written), entries in self._entries.items():
            arrived = [entry for entry in entries if self._has_arrived(entry)]
            if self._shared and written == kind and writer != worker and arrived:
                found[writer] = arrived[-1]
        return found

    def _has_arrived(self, entry: Entry) -> bool:
        return entry[0] + self._delay_seconds <= self._clock()


class VirtualStateStore:
    """The state store of a worker's judge or strategy."""

    write_seconds = 0.0

    def __init__(self, state_stores: VirtualStateStores, worker: str, part: str) -> None:
        self._state_stores = state_stores
        self._worker = worker
        self._part = part
        self._seen: dict[tuple[str, str], float] = {}

    def write(self, kind: str, content: bytes) -> None:
        self._state_stores.write(self._worker, self._kind(kind), content)

    def read(self, kind: str) -> bytes | None:
        return self._state_stores.read(self._worker, self._kind(kind))

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries of other workers that became readable since the last call."""
        new = []
        for writer, (written, content) in self._state_stores.others(self._worker, self._kind(kind)).items():
            if self._seen.get((writer, kind)) != written:
                self._seen[writer, kind] = written
                new.append(content)
        return new

    def _kind(self, kind: str) -> str:
        return f"{self._part}/{kind}"


ROUNDING_SECONDS = 0.002
"""A store may round to milliseconds."""
EVERYTHING = 1 << 30


@dataclass
class _Host:
    open: dict[int, float] = field(default_factory=dict)
    ended: float | None = None


@dataclass(kw_only=True)
class PolitenessAudit:
    """The audit of a crawl.

    Args:
        delay_seconds: The delay of a host after a lease.
        look_seconds: Time between two samples of all hosts.
        leases: Number of leases.
        crowded: Leases of a host that had one open already.
        hasty: Leases of a host before its delay was over.
        expired: Leases that were not settled in time.
        least_gap: The shortest time from the end of a lease to the next one of its host.
        looked: Leases that were compared with all hosts that were ready at that time.
        best: How many of them were the best available; in a batch, the second best after it, and so on.
        near_best: How many had fewer better ones than there are workers.
        busy_hosts: Hosts with waiting URLs at each sample, and the time since the previous one.
    """

    delay_seconds: float
    workers: int
    look_seconds: float = 1.0
    leases: int = 0
    crowded: int = 0
    hasty: int = 0
    expired: int = 0
    least_gap: float = float("inf")
    looked: int = 0
    best: int = 0
    near_best: int = 0
    busy_hosts: list[tuple[float, int]] = field(default_factory=list)
    _hosts: dict[str, _Host] = field(default_factory=dict)
    _look_at: float = 0.0

    async def scores(self, frontier: Frontier, now: float) -> list[float] | None:
        """Before a lease, periodically: return the best score of every ready host, the best first."""
        if now < self._look_at:
            return None
        self._look_at = now + self.look_seconds
        hosts = await frontier.hosts(EVERYTHING)
        self.busy_hosts.append((now, sum(host.waiting > 0 or host.leased > 0 for host in hosts)))
        free = [host for host in hosts if not host.parked and not host.leased and host.next_seconds <= 0]
        return sorted((host.best for host in free if host.best is not None), reverse=True)

    def leased(self, leases: Sequence[Lease], now: float, scores: list[float] | None) -> None:
        """Record leases."""
        for place, lease in enumerate(leases):
            self._record_lease(lease, now)
            if scores is not None:
                better = sum(score > lease.score + 1e-4 for score in scores)  # a store may round scores
                self.looked += 1
                self.best += better <= place
                self.near_best += better < self.workers

    def _record_lease(self, lease: Lease, now: float) -> None:
        self.leases += 1
        host = self._hosts.setdefault(lease.host, _Host())
        for fence in [fence for fence, until in host.open.items() if until <= now]:
            host.ended = max(host.ended or 0.0, host.open.pop(fence))
            self.expired += 1
        self.crowded += bool(host.open)
        if host.ended is not None:
            gap = now - host.ended
            self.least_gap = min(self.least_gap, gap)
            self.hasty += gap < self.delay_seconds - ROUNDING_SECONDS
        host.open[lease.fence] = lease.until

    def settled(self, lease: Lease, now: float) -> None:
        """Record that a worker settled a lease."""
        host = self._hosts[lease.host]
        if host.open.get(lease.fence, now) > now:
            host.open.pop(lease.fence, None)
            host.ended = now

    def mean_busy_hosts(self) -> float:
        """Return the mean number of hosts with waiting URLs over time."""
        spans = [
            (later - now, hosts) for (now, hosts), (later, _) in zip(self.busy_hosts, self.busy_hosts[1:], strict=False)
        ]
        seconds = sum(span for span, _ in spans)
        return sum(span * hosts for span, hosts in spans) / seconds if seconds else 0.0


@dataclass(frozen=True, kw_only=True)
class FleetPlan:
    """The settings of a fleet.

    Args:
        workers: Number of workers.
        slots: Concurrent fetches per worker.
        fetch_seconds: Mean time of a fetch; sampled from half of it to one and a half.
        delay_seconds: Between two requests to a host.
        lease_seconds: After which a URL is leased again.
        life_seconds: Mean lifetime of a worker; the others are not notified of its death.
        rest_seconds: Until a dead worker is restarted.
        stalls: Share of fetches that take longer than their lease.
        state_delay_seconds: Time until others can read saved state.
        shared: Whether they can at all.
        seed: Different seeds give different times.
    """

    workers: int = 4
    slots: int = 1
    fetch_seconds: float = 1.0
    delay_seconds: float = 0.0
    lease_seconds: float = 60.0
    life_seconds: float = math.inf
    rest_seconds: float = 5.0
    stalls: float = 0.0
    state_delay_seconds: float = 1.0
    shared: bool = True
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class FleetCrawl:
    """The fetches in the order of arrival, each with its worker.

    Args:
        deaths: How often a worker died.
        virtual_seconds: How long it took.
        ran_dry: Whether nothing was left to fetch.
    """

    fetches: Sequence[SimulatedFetch]
    workers: Sequence[int]
    deaths: int
    virtual_seconds: float
    ran_dry: bool


MIN_WAIT_SECONDS = 0.001
"""Between two polls of an empty queue."""

MakeParts = Callable[[], tuple[Judge, Strategy]]
"""Creates the judge and the strategy of one worker."""


@dataclass(eq=False)
class _Worker:
    """One worker; `life` distinguishes its responses from those of a dead predecessor."""

    number: int
    pipeline: Pipeline
    judge: Judge
    life: int = 0
    alive: bool = True
    room: int = 0


@dataclass(order=True)
class _Event:
    at: float
    number: int
    happen: Callable[[], object] = field(compare=False)


class Fleet:
    """Workers that crawl one web together.

    Args:
        pages: The web's parsed pages.
        open_frontier: Opens their common queue for one of them; it must use `clock`.
        make_parts: Creates the judge and the strategy of each.
        rules: By default the whole web is in scope.
        audit: Audits every lease.
    """

    def __init__(
        self,
        web: Web,
        pages: ParsedPages,
        plan: FleetPlan,
        *,
        open_frontier: Callable[[], CrawlStore],
        clock: VirtualClock,
        make_parts: MakeParts,
        rules: PipelineRules | None = None,
        audit: PolitenessAudit | None = None,
    ) -> None:
        self.plan = plan
        self.state_stores = VirtualStateStores(clock, delay_seconds=plan.state_delay_seconds, shared=plan.shared)
        self._audit = audit
        self._answers, self._clock = WebResponder(web, pages), clock
        self._make_parts = make_parts
        self._open_frontier = open_frontier
        self._opened: list[CrawlStore] = []
        self._rules = rules or rules_of(web)
        self._random = Random(f"fleet {plan.seed}")  # noqa: S311 - no secret
        self._events: list[_Event] = []
        self._numbers = count()
        self._wake_at = math.inf
        self._is_dry = False
        self._deaths = 0
        self._arrived: list[tuple[_Worker, Lease]] = []
        self._workers = [self._spawn(number) for number in range(plan.workers)]
        self._idle = deque(self._workers)

    @property
    def judges(self) -> list[Judge]:
        """The judge of every worker."""
        return [worker.judge for worker in self._workers]

    async def run(self, seeds: Sequence[str], budget: int, *, free: Set[int] = frozenset()) -> FleetCrawl:
        """Fetch until the budget is spent or nothing is left; every fetch counts, a dead link's too.

        Args:
            seeds: URLs to start from.
            budget: The largest number of fetches.
            free: Pages whose fetches do not count, and are not reported.
        """
        fetches: list[SimulatedFetch] = []
        workers: list[int] = []
        await self._workers[0].pipeline.seed(seeds)
        while len(fetches) < budget:
            await self._dispatch()
            if self._is_dry:
                break
            self._pass_time()
            for worker, lease in self._arrived:
                fetch = await self._process(worker, lease)
                if fetch.page_id not in free:
                    fetches.append(fetch)
                    workers.append(worker.number)
            self._arrived.clear()
        return FleetCrawl(
            fetches=fetches,
            workers=workers,
            deaths=self._deaths,
            virtual_seconds=self._clock.now,
            ran_dry=self._is_dry,
        )

    async def close(self) -> None:
        """Close the queue of all workers, dead ones included."""
        for frontier in self._opened:
            await frontier.close()

    async def _dispatch(self) -> None:
        """Let workers with free slots lease, the longest waiting first, until the queue is empty."""
        while self._idle:
            worker = self._idle[0]
            if worker.alive and worker.room and not await self._ask(worker):
                return
            self._idle.popleft()

    async def _ask(self, worker: _Worker) -> bool:
        now, audit = self._clock.now, self._audit
        scores = await audit.scores(worker.pipeline.frontier, now) if audit else None
        leases = await worker.pipeline.frontier.lease(
            worker.room, seconds=self.plan.lease_seconds, worker=f"{worker.number}-{worker.life}"
        )
        await worker.pipeline.frontier.begin(leases)
        if audit:
            audit.leased(leases, now, scores)
        for lease in leases:
            worker.room -= 1
            self._at(now + self._fetch_seconds(lease), self._answer(worker, lease))
        if worker.room:
            await self._wake_later(worker.pipeline.frontier)
        return not worker.room

    async def _wake_later(self, frontier: CrawlStore) -> None:
        wait = await frontier.seconds_to_next()
        if wait is None:
            self._is_dry = True
            return
        at = self._clock.now + max(wait, MIN_WAIT_SECONDS)
        if at < self._wake_at:
            self._wake_at = at
            self._at(at, self._wake)

    def _wake(self) -> None:
        self._wake_at = math.inf

    def _pass_time(self) -> None:
        """Advance to the next event."""
        event = heappop(self._events)
        self._clock.now = max(self._clock.now, event.at)
        event.happen()

    def _at(self, at: float, happen: Callable[[], object]) -> None:
        heappush(self._events, _Event(at, next(self._numbers), happen))

    def _fetch_seconds(self, lease: Lease) -> float:
        random = Random(f"{self.plan.seed} {lease.url} {lease.tries}")  # noqa: S311 - no secret
        if random.random() < self.plan.stalls:
            return 1.5 * self.plan.lease_seconds
        return self.plan.fetch_seconds * random.uniform(0.5, 1.5)

    def _answer(self, worker: _Worker, lease: Lease) -> Callable[[], object]:
        life = worker.life

        def arrive() -> None:
            if worker.alive and worker.life == life:
                self._arrived.append((worker, lease))

        return arrive

    async def _process(self, worker: _Worker, lease: Lease) -> SimulatedFetch:
        answer = self._answers.answer(lease.url, at=self._clock.now)
        if self._audit:
            self._audit.settled(lease, self._clock.now)
        record = await worker.pipeline.process(lease, answer, delay_seconds=self.plan.delay_seconds)
        worker.room += 1
        if worker not in self._idle:
            self._idle.append(worker)
        return self._answers.fetch(lease.url, record.relevance)

    def _spawn(self, number: int, life: int = 0) -> _Worker:
        """Create a worker with the saved state of its name, and sample its lifetime."""
        judge, strategy = self._make_parts()
        for part, name in ((judge, "judge"), (strategy, "strategy")):
            if isinstance(part, Learner | Stateful):
                part.load_state(self.state_stores.of(f"w{number}", name))
        self._opened.append(self._open_frontier())
        pipeline = Pipeline(
            frontier=self._opened[-1],
            archive=NoArchive(),
            judge=judge,
            strategy=strategy,
            rules=self._rules,
            parse=self._answers.parse,
        )
        worker = _Worker(number, pipeline, judge, life=life, room=self.plan.slots)
        if math.isfinite(self.plan.life_seconds):
            life_seconds = self._random.expovariate(1 / self.plan.life_seconds)
            self._at(self._clock.now + life_seconds, lambda: self._die(worker))
        return worker

    def _die(self, worker: _Worker) -> None:
        """Kill a worker with all its leases; one of the same name is started later."""
        worker.alive = False
        self._deaths += 1
        self._at(self._clock.now + self.plan.rest_seconds, lambda: self._respawn(worker))

    def _respawn(self, dead: _Worker) -> None:
        self._workers[dead.number] = worker = self._spawn(dead.number, dead.life + 1)
        self._idle.append(worker)
