"""Several workers on one frontier, in one process and on one virtual clock: what a cluster does, in minutes.

Every worker has its own line, judge and strategy, fetches several pages at a time, and may die; one that was born
again goes on with what it wrote down. A page takes its time on the clock, thinking takes none. The same seed gives the
same crawl, on any frontier that keeps its promises.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random

from thresher.archive.pages import NoArchive
from thresher.classify.base import Judge, Learner
from thresher.frontier.base import Frontier
from thresher.lab.fleet_plan import FleetCrawl, FleetPlan
from thresher.lab.manners import Manners
from thresher.lab.parsed import ParsedPages
from thresher.lab.simulate import Answers, Fetch, VirtualClock, rules_of
from thresher.lab.virtual_notebooks import VirtualNotebooks
from thresher.lab.virtualweb import Web
from thresher.line import Line, Rules
from thresher.records import Lease
from thresher.strategies.base import Rememberer, Strategy

LEAST_WAIT_SECONDS = 0.001
"""Between two questions that were answered with nothing."""

MakeParts = Callable[[], tuple[Judge, Strategy]]
"""Makes the judge and the strategy of one worker, new."""


@dataclass(eq=False)
class _Worker:
    """One worker; `life` tells an answer to this one from an answer to the one that died in its place."""

    number: int
    line: Line
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
        open_frontier: Opens their queue for one of them, each time the same one; it must count by `clock`.
        make_parts: Makes the judge and the strategy of each.
        rules: What they may fetch; by default all of the web.
        manners: Looks at every lease.
    """

    def __init__(
        self,
        web: Web,
        pages: ParsedPages,
        plan: FleetPlan,
        *,
        open_frontier: Callable[[], Frontier],
        clock: VirtualClock,
        make_parts: MakeParts,
        rules: Rules | None = None,
        manners: Manners | None = None,
    ) -> None:
        self.plan = plan
        self.notebooks = VirtualNotebooks(clock, delay_seconds=plan.notebook_seconds, shared=plan.shared)
        self._manners = manners
        self._answers, self._clock = Answers(web, pages), clock
        self._make_parts = make_parts
        self._open_frontier = open_frontier
        self._opened: list[Frontier] = []
        self._rules = rules or rules_of(web)
        self._random = Random(f"fleet {plan.seed}")  # noqa: S311 - no secret
        self._events: list[_Event] = []
        self._numbers = count()
        self._wake_at = math.inf
        self._is_dry = False
        self._deaths = 0
        self._arrived: list[tuple[_Worker, Lease]] = []
        self._workers = [self._born(number) for number in range(plan.workers)]
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
            free: Pages whose fetches do not count, and are not told.
        """
        fetches: list[Fetch] = []
        workers: list[int] = []
        await self._workers[0].line.seed(seeds)
        while len(fetches) < budget:
            await self._hand_out()
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
        """Let go of the queue, for the dead too."""
        for frontier in self._opened:
            await frontier.close()

    async def _hand_out(self) -> None:
        """Let those with room ask, who waited longest first, until the queue has nothing."""
        while self._idle:
            worker = self._idle[0]
            if worker.alive and worker.room and not await self._ask(worker):
                return
            self._idle.popleft()

    async def _ask(self, worker: _Worker) -> bool:
        now, manners = self._clock.now, self._manners
        scores = await manners.scores(worker.line.frontier, now) if manners else None
        leases = await worker.line.frontier.lease(
            worker.room, seconds=self.plan.lease_seconds, worker=f"{worker.number}-{worker.life}"
        )
        if manners:
            manners.leased(leases, now, scores)
        for lease in leases:
            worker.room -= 1
            self._at(now + self._fetch_seconds(lease), self._answer(worker, lease))
        if worker.room:
            await self._wake_later(worker.line.frontier)
        return not worker.room

    async def _wake_later(self, frontier: Frontier) -> None:
        wait = await frontier.seconds_to_next()
        if wait is None:
            self._is_dry = True
            return
        at = self._clock.now + max(wait, LEAST_WAIT_SECONDS)
        if at < self._wake_at:
            self._wake_at = at
            self._at(at, self._wake)

    def _wake(self) -> None:
        self._wake_at = math.inf

    def _pass_time(self) -> None:
        """Let happen what comes next."""
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

    async def _process(self, worker: _Worker, lease: Lease) -> Fetch:
        answer = self._answers.answer(lease.url, at=self._clock.now)
        if self._manners:
            self._manners.settled(lease, self._clock.now)
        record = await worker.line.process(lease, answer, delay_seconds=self.plan.delay_seconds)
        worker.room += 1
        if worker not in self._idle:
            self._idle.append(worker)
        return self._answers.fetch(lease.url, record.relevance)

    def _born(self, number: int, life: int = 0) -> _Worker:
        """Make a worker, with what another of its name wrote down, and draw how long it lives."""
        judge, strategy = self._make_parts()
        for part, name in ((judge, "judge"), (strategy, "strategy")):
            if isinstance(part, Learner | Rememberer):
                part.keep_in(self.notebooks.of(f"w{number}", name))
        self._opened.append(self._open_frontier())
        line = Line(
            frontier=self._opened[-1],
            archive=NoArchive(),
            judge=judge,
            strategy=strategy,
            rules=self._rules,
            parse=self._answers.parse,
        )
        worker = _Worker(number, line, judge, life=life, room=self.plan.slots)
        if math.isfinite(self.plan.life_seconds):
            life_seconds = self._random.expovariate(1 / self.plan.life_seconds)
            self._at(self._clock.now + life_seconds, lambda: self._die(worker))
        return worker

    def _die(self, worker: _Worker) -> None:
        """Let a worker die with all that it holds; one of the same name is born later."""
        worker.alive = False
        self._deaths += 1
        self._at(self._clock.now + self.plan.rest_seconds, lambda: self._bear(worker))

    def _bear(self, dead: _Worker) -> None:
        self._workers[dead.number] = worker = self._born(dead.number, dead.life + 1)
        self._idle.append(worker)
