"""A frontier that is measured: every call is passed on, and what it says about the crawl is counted.

All that a worker does shows in what it asks of the frontier, so nothing else of the engine knows about metrics.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from thresher.engine.figures import Figures
from thresher.failures import kind_of
from thresher.frontier.base import Counts, FailureCount, Frontier, HostEntry, UrlEntry
from thresher.records import Candidate, Lease, Outcome, Settlement
from thresher.totals import Totals

FRESH_SECONDS = 1.0
"""What the store said about the whole crawl is not asked again within this time, however many scrape."""
LOOK_SECONDS = 0.5
"""How long a scrape waits for the store before it goes with what was known."""
REACHED_SECONDS = 30.0
"""A store that has not answered for so long counts as away."""

Answer = TypeVar("Answer")


class Measured:
    """Passes every call on to a frontier and counts what happens.

    Args:
        frontier: The one that does the work.
        pages: The folder of the page store, when it holds all pages of the crawl.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        frontier: Frontier,
        figures: Figures,
        *,
        pages: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.frontier = frontier
        self._totals = Totals(pages, clock=clock)
        self.figures = figures
        self._clock = clock
        self._reached = -REACHED_SECONDS
        self._looked = -FRESH_SECONDS
        self._look: asyncio.Task[None] | None = None

    @property
    def is_reached(self) -> bool:
        """Whether the store has answered lately."""
        return self._clock() - self._reached < REACHED_SECONDS

    async def look(self, *, seconds: float = LOOK_SECONDS) -> None:
        """Bring what is said about the whole crawl up to date, unless it is, or the store takes too long."""
        if self._look is None and self._clock() - self._looked >= FRESH_SECONDS:
            self._look = asyncio.create_task(self._ask())
            self._look.add_done_callback(self._looked_up)
        if self._look is not None:
            await asyncio.wait([self._look], timeout=seconds)
        self.figures.store_up.set(self.is_reached)

    def stop_looking(self) -> None:
        """Ask the store no more."""
        if self._look is not None:
            self._look.cancel()

    async def _ask(self) -> None:
        counts, seconds = await self._totals.read(self), await self.seconds_to_next()
        self.figures.show_crawl(counts, seconds)
        self._looked = self._clock()

    def _looked_up(self, look: asyncio.Task[None]) -> None:
        self._look = None
        if not look.cancelled():
            look.exception()  # counted where it was raised; a scrape goes with what was known

    async def _timed(self, operation: str, answer: Awaitable[Answer]) -> Answer:
        begin = self._clock()
        try:
            answered = await answer
        except Exception:
            self.figures.store_errors(operation).inc()
            raise
        self._reached = self._clock()
        self.figures.store_seconds(operation).observe(self._reached - begin)
        return answered

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Let URLs in; see `Frontier`."""
        return await self._timed("add", self.frontier.add(candidates))

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Hand out URLs; see `Frontier`."""
        leases = await self._timed("lease", self.frontier.lease(limit, seconds=seconds, worker=worker, pages=pages))
        self.figures.leases.inc(len(leases))
        self.figures.open_leases.inc(len(leases))
        if not leases:
            self.figures.empty_leases.inc()
        return leases

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Settle leases; see `Frontier`."""
        accepted = await self._timed("commit", self.frontier.commit(settlements))
        self.figures.open_leases.dec(len(settlements))
        for settlement, was_held in zip(settlements, accepted, strict=True):
            if was_held:
                self._count(settlement)
            else:
                self.figures.refused.inc()
        return accepted

    def _count(self, settlement: Settlement) -> None:
        figures = self.figures
        figures.settlements[settlement.outcome].inc()
        figures.links.inc(len(settlement.links))
        figures.pages.inc(settlement.page)
        figures.relevant.inc(settlement.page and settlement.relevant)
        figures.parks.inc(bool(settlement.park))
        if settlement.outcome is not Outcome.DONE:
            figures.errors[kind_of(settlement.reason)].inc()

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        """Give leases back; see `Frontier`."""
        await self._timed("release", self.frontier.release(leases, delay_seconds=delay_seconds))
        self.figures.released.inc(len(leases))
        self.figures.open_leases.dec(len(leases))

    async def park(self, host: str, reason: str, *, seconds: float | None = None) -> None:
        """Ask a host no more; see `Frontier`."""
        await self._timed("park", self.frontier.park(host, reason, seconds=seconds))
        self.figures.parks.inc()

    async def unpark(self, host: str) -> None:
        """Let a parked host be asked again; see `Frontier`."""
        await self._timed("unpark", self.frontier.unpark(host))

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        """Add to the number of relevant pages of hosts; see `Frontier`."""
        await self._timed("adjust_relevant", self.frontier.adjust_relevant(changes))

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Give waiting URLs new scores; see `Frontier`."""
        return await self._timed("rescore", self.frontier.rescore(scores, was=was))

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        """List the best waiting URLs; see `Frontier`."""
        return await self._timed("peek", self.frontier.peek(limit, below=below))

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands; see `Frontier`."""
        return await self._timed("find", self.frontier.find(url))

    async def counts(self) -> Counts:
        """Return the frontier in numbers; see `Frontier`."""
        return await self._timed("counts", self.frontier.counts())

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        """List hosts; see `Frontier`."""
        return await self._timed("hosts", self.frontier.hosts(limit))

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host; see `Frontier`."""
        return await self._timed("find_host", self.frontier.find_host(host))

    async def failures(self) -> list[FailureCount]:
        """Count failures by host and reason; see `Frontier`."""
        return await self._timed("failures", self.frontier.failures())

    async def next_hosts(self, limit: int) -> list[str]:
        """List hosts that may be asked now; see `Frontier`."""
        return await self._timed("next_hosts", self.frontier.next_hosts(limit))

    async def seconds_to_next(self) -> float | None:
        """Return the seconds until there may be something; see `Frontier`."""
        return await self._timed("seconds_to_next", self.frontier.seconds_to_next())

    async def first_with(self, content: int) -> int:
        """Return who brought this content first; see `Frontier`."""
        return await self._timed("first_with", self.frontier.first_with(content))

    async def remember(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        """Keep a note about a host; see `Frontier`."""
        await self._timed("remember", self.frontier.remember(host, kind, value, seconds=seconds))

    async def recall(self, host: str, kind: str) -> str | None:
        """Return a note about a host; see `Frontier`."""
        return await self._timed("recall", self.frontier.recall(host, kind))

    async def enter(self, gate: str, *, seconds: float) -> float:
        """Go through a gate; see `Frontier`."""
        return await self._timed("enter", self.frontier.enter(gate, seconds=seconds))

    async def leave(self, gate: str, *, delay_seconds: float) -> None:
        """Let a gate open again; see `Frontier`."""
        await self._timed("leave", self.frontier.leave(gate, delay_seconds=delay_seconds))

    async def identify(self, crawl_id: str) -> str:
        """Keep the id of the crawl; see `Frontier`."""
        return await self.frontier.identify(crawl_id)

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Let settled URLs wait again; see `Frontier`."""
        return await self._timed("reopen", self.frontier.reopen(candidates))

    async def close(self) -> None:
        """Let go of files and connections."""
        await self.frontier.close()
