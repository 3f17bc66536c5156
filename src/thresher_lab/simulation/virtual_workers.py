"""Several workers on one frontier, in one process and on one virtual clock: a simulated cluster.

Every worker has its own pipeline, judge and strategy, fetches several pages at a time, and may die; a restarted one
continues with its saved state. A fetch takes time on the clock, computation takes none. The same seed gives the
same crawl, on any frontier that keeps its promises.

The plan of a fleet of virtual workers, and its result.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random

from thresher.frontier.base import CrawlStore
from thresher.judges.base import Judge, Learner
from thresher.pipeline.links import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Lease
from thresher.storage.page_store import NoArchive
from thresher.strategies.base import Stateful, Strategy
from thresher_lab.simulation.politeness_audit import PolitenessAudit
from thresher_lab.simulation.simulator import SimulatedFetch, VirtualClock, WebResponder, rules_of
from thresher_lab.simulation.virtual_state import VirtualStateStores
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web


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
