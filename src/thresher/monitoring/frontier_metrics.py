"""A frontier with metrics: every call is passed on, timed and counted.

All that a worker does shows in its calls of the frontier, so no other part of the engine knows about metrics.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from thresher.frontier.base import Counts, CrawlStore, FailureCount, HostEntry, UrlEntry
from thresher.monitoring.failures import block_kind_of, kind_of
from thresher.monitoring.prometheus import WorkerMetrics
from thresher.monitoring.totals import Totals
from thresher.reasons.reason import Reason
from thresher.records import Candidate, Lease, Outcome, Settlement

FRESH_SECONDS = 1.0
"""Figures of the whole crawl are cached for this long, however many scrapes there are."""
POLL_SECONDS = 0.5
"""How long a scrape waits for the store before it uses the last figures."""
REACHED_SECONDS = 30.0
"""A store that has not answered for this long counts as unreachable."""

T = TypeVar("T")


class InstrumentedFrontier:
    """Passes every call on to a frontier and counts what happens.

    Args:
        pages: The folder of the page store, if it has all pages of the crawl.
        clock: A monotonic clock.
    """

    def __init__(
        self,
        frontier: CrawlStore,
        worker_metrics: WorkerMetrics,
        *,
        pages: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.frontier = frontier
        self._totals = Totals(pages, clock=clock)
        self.worker_metrics = worker_metrics
        self._clock = clock
        self._reached = -REACHED_SECONDS
        self._polled = -FRESH_SECONDS
        self._poll: asyncio.Task[None] | None = None

    @property
    def is_reached(self) -> bool:
        return self._clock() - self._reached < REACHED_SECONDS

    async def poll(self, *, seconds: float = POLL_SECONDS) -> None:
        """Update the figures of the whole crawl, unless they are fresh or the store takes too long."""
        if self._poll is None and self._clock() - self._polled >= FRESH_SECONDS:
            self._poll = asyncio.create_task(self._read_totals())
            self._poll.add_done_callback(self._poll_done)
        if self._poll is not None:
            await asyncio.wait([self._poll], timeout=seconds)
        self.worker_metrics.store_up.set(self.is_reached)

    def stop_polling(self) -> None:
        if self._poll is not None:
            self._poll.cancel()

    async def _read_totals(self) -> None:
        counts, seconds = await self._totals.read(self), await self.seconds_to_next()
        self.worker_metrics.show_crawl(counts, seconds)
        self._polled = self._clock()

    def _poll_done(self, poll: asyncio.Task[None]) -> None:
        self._poll = None
        if not poll.cancelled():
            poll.exception()  # counted where it was raised; a scrape uses the last figures

    async def _timed(self, operation: str, call: Awaitable[T]) -> T:
        begin = self._clock()
        try:
            result = await call
        except Exception:
            self.worker_metrics.store_errors(operation).inc()
            raise
        self._reached = self._clock()
        self.worker_metrics.store_seconds(operation).observe(self._reached - begin)
        return result

    async def add(self, candidates: Sequence[Candidate]) -> int:
        return await self._timed("add", self.frontier.add(candidates))

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        leases = await self._timed("lease", self.frontier.lease(limit, seconds=seconds, worker=worker, pages=pages))
        self.worker_metrics.leases.inc(len(leases))
        self.worker_metrics.open_leases.inc(len(leases))
        if not leases:
            self.worker_metrics.empty_leases.inc()
        return leases

    async def begin(self, leases: Sequence[Lease]) -> None:
        await self._timed("begin", self.frontier.begin(leases))

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        accepted = await self._timed("commit", self.frontier.commit(settlements))
        self.worker_metrics.open_leases.dec(len(settlements))
        for settlement, was_held in zip(settlements, accepted, strict=True):
            if was_held:
                self._count(settlement)
            else:
                self.worker_metrics.refused.inc()
        return accepted

    def _count(self, settlement: Settlement) -> None:
        worker_metrics = self.worker_metrics
        worker_metrics.settlements[settlement.outcome].inc()
        worker_metrics.links.inc(len(settlement.links))
        worker_metrics.pages.inc(settlement.page)
        worker_metrics.relevant.inc(settlement.page and settlement.relevant)
        worker_metrics.parks.inc(bool(settlement.park))
        if settlement.outcome is not Outcome.DONE:
            worker_metrics.errors[kind_of(settlement.reason)].inc()
            if block_kind := block_kind_of(settlement.reason):
                worker_metrics.block_pages[block_kind].inc()

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        await self._timed("release", self.frontier.release(leases, delay_seconds=delay_seconds))
        self.worker_metrics.released.inc(len(leases))
        self.worker_metrics.open_leases.dec(len(leases))

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        await self._timed("park", self.frontier.park(host, reason, seconds=seconds))
        self.worker_metrics.parks.inc()

    async def unpark(self, host: str) -> None:
        await self._timed("unpark", self.frontier.unpark(host))

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        await self._timed("adjust_relevant", self.frontier.adjust_relevant(changes))

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        return await self._timed("rescore", self.frontier.rescore(scores, was=was))

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        return await self._timed("peek", self.frontier.peek(limit, below=below))

    async def find(self, url: str) -> UrlEntry | None:
        return await self._timed("find", self.frontier.find(url))

    async def counts(self) -> Counts:
        return await self._timed("counts", self.frontier.counts())

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        return await self._timed("hosts", self.frontier.hosts(limit))

    async def find_host(self, host: str) -> HostEntry | None:
        return await self._timed("find_host", self.frontier.find_host(host))

    async def failures(self) -> list[FailureCount]:
        return await self._timed("failures", self.frontier.failures())

    async def next_hosts(self, limit: int) -> list[str]:
        return await self._timed("next_hosts", self.frontier.next_hosts(limit))

    async def seconds_to_next(self) -> float | None:
        return await self._timed("seconds_to_next", self.frontier.seconds_to_next())

    async def content_owner(self, content: int) -> int:
        return await self._timed("first_with", self.frontier.content_owner(content))

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        await self._timed("remember", self.frontier.put_state(host, kind, value, seconds=seconds))

    async def get_state(self, host: str, kind: str) -> str | None:
        return await self._timed("recall", self.frontier.get_state(host, kind))

    async def acquire_lock(self, name: str, *, seconds: float) -> float:
        return await self._timed("enter", self.frontier.acquire_lock(name, seconds=seconds))

    async def release_lock(self, name: str, *, delay_seconds: float) -> None:
        await self._timed("leave", self.frontier.release_lock(name, delay_seconds=delay_seconds))

    async def identify(self, crawl_id: str) -> str:
        return await self.frontier.identify(crawl_id)

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        return await self._timed("reopen", self.frontier.reopen(candidates))

    async def close(self) -> None:
        await self.frontier.close()
