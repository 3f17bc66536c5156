"""The metrics endpoint of a worker: a tiny HTTP server in its own event loop.

``/metrics`` for Prometheus; ``/healthz`` answers as long as the event loop runs; ``/readyz`` reports whether the store
was reached in the last 30 seconds. Every worker has its own port, the first port plus its number on this machine, so
nothing is shared between processes, and the figures of a killed worker go with it. Prometheus adds them up.

It listens on loopback by default, reads little, answers at once and closes; it changes nothing.

`InstrumentedFrontier` is a frontier with metrics: every call is passed on and timed; those that change leases are
counted.

All that a worker does shows in its calls of the frontier, so no other part of the engine knows about metrics.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import getmembers, iscoroutinefunction
from pathlib import Path
from typing import Any, TypeVar, cast

from thresher.frontier.base import CrawlStore
from thresher.monitoring.failures import block_kind_of, kind_of
from thresher.monitoring.prometheus import WorkerMetrics
from thresher.monitoring.totals import Totals
from thresher.reasons.reason import Reason
from thresher.records import Lease, Outcome, Settlement

FRESH_SECONDS = 1.0
"""Figures of the whole crawl are cached for this long, however many scrapes there are."""
POLL_SECONDS = 0.5
"""How long a scrape waits for the store before it uses the last figures."""
REACHED_SECONDS = 30.0
"""A store that has not answered for this long counts as unreachable."""

OPERATIONS = {
    "content_owner": "first_with",
    "put_state": "remember",
    "get_state": "recall",
    "acquire_lock": "enter",
    "release_lock": "leave",
}
"""Methods whose metrics have another name, which dashboards of earlier versions ask for."""
TIMED = {name for name, method in getmembers(CrawlStore, iscoroutinefunction)} - {"identify", "close"}

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
        counts, seconds = await self._totals.read(cast(CrawlStore, self)), await self.seconds_to_next()
        self.worker_metrics.show_crawl(counts, seconds)
        self._polled = self._clock()

    def _poll_done(self, poll: asyncio.Task[None]) -> None:
        self._poll = None
        if not poll.cancelled():
            poll.exception()  # counted where it was raised; a scrape uses the last figures

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.frontier, name)
        if name not in TIMED:
            return method
        operation = OPERATIONS.get(name, name)

        async def timed(*arguments: Any, **options: Any) -> Any:
            return await self._timed(operation, method(*arguments, **options))

        return timed

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

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        leases = await self._timed("lease", self.frontier.lease(limit, seconds=seconds, worker=worker, pages=pages))
        self.worker_metrics.leases.inc(len(leases))
        self.worker_metrics.open_leases.inc(len(leases))
        if not leases:
            self.worker_metrics.empty_leases.inc()
        return leases

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


logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
READ_SECONDS = 5.0
MAX_BYTES = 16 << 10
MAX_OPEN = 32
"""Open connections; more are closed without a response, so that no client can keep a worker busy."""
LAST_SCRAPE_SECONDS = 30.0
"""How long a worker of a run that has ended waits for one more scrape: twice Prometheus's usual interval."""
SCRAPED_SECONDS = 60.0
"""Nobody scrapes a worker that was not scraped for so long."""
LAG_SECONDS = 0.5
"""Time between two measurements of the loop's lag."""
PLAIN = "text/plain; charset=utf-8"
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"

Reply = tuple[int, str, bytes]
_PHRASES = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


class Endpoint:
    """The server for the metrics of one worker.

    Args:
        port: 0 for any free port; `port` is then set to it.
        pages: The folder of the page store, if it has all pages of the crawl.
    """

    def __init__(
        self, worker_metrics: WorkerMetrics, *, address: str = ADDRESS, port: int = 0, pages: Path | None = None
    ) -> None:
        self.port = port
        self._address = address
        self._worker_metrics = worker_metrics
        self._counted_pages = pages
        self._instrumented_frontier: InstrumentedFrontier | None = None
        self._server: asyncio.Server | None = None
        self._lag: asyncio.Task[None] | None = None
        self._open = 0
        self._last_scrape = time.monotonic()  # a new worker may not have been found yet
        self._scraped = asyncio.Event()
        self._pages: dict[str, Callable[[], Awaitable[Reply]]] = {
            "/metrics": self._metrics,
            "/healthz": self._healthz,
            "/readyz": self._readyz,
        }

    def around(self, frontier: CrawlStore) -> CrawlStore:
        """Wrap a frontier with metrics; call once, before the frontier is used."""
        self._instrumented_frontier = InstrumentedFrontier(frontier, self._worker_metrics, pages=self._counted_pages)
        return cast(CrawlStore, self._instrumented_frontier)

    async def start(self) -> None:
        """Start to serve; a port in use is logged, and the crawl continues without metrics."""
        try:
            self._server = await asyncio.start_server(self._serve, self._address, self.port, limit=MAX_BYTES)
        except OSError as error:
            logger.error("no metrics on %s:%s: %s", self._address, self.port, error.strerror or error)
            return
        self.port = self._server.sockets[0].getsockname()[1]
        self._lag = asyncio.create_task(self._measure_lag())

    def stop(self) -> None:
        if self._server:
            self._server.close()
        if self._lag:
            self._lag.cancel()
        if self._instrumented_frontier:
            self._instrumented_frontier.stop_polling()

    async def show_end(self) -> None:
        """Show that the run has ended, and wait for one more scrape: a worker that is gone without it may have died."""
        self._worker_metrics.ended.set(1)
        if self._server and time.monotonic() - self._last_scrape < SCRAPED_SECONDS:
            self._scraped.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._scraped.wait(), LAST_SCRAPE_SECONDS)

    async def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_SECONDS
            await asyncio.sleep(LAG_SECONDS)
            self._worker_metrics.loop_lag.observe(max(0.0, loop.time() - due))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            with suppress(OSError, TimeoutError):  # the client is gone, or sends nothing
                if self._open <= MAX_OPEN:
                    async with asyncio.timeout(READ_SECONDS):
                        await self._exchange(reader, writer)
        finally:
            self._open -= 1
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            method, reply = b"", (400, PLAIN, b"not a request\n")
        else:
            method, path = (*head.split(b"\r\n", 1)[0].split(b" "), b"", b"")[:2]
            reply = await self._reply(method, path.partition(b"?")[0].decode("latin-1"))
        writer.write(_written(reply, with_body=method != b"HEAD"))
        await writer.drain()

    async def _reply(self, method: bytes, path: str) -> Reply:
        if method not in (b"GET", b"HEAD"):
            return 405, PLAIN, b"only GET and HEAD\n"
        page = self._pages.get(path)
        return await page() if page else (404, PLAIN, b"/metrics, /healthz or /readyz\n")

    async def _metrics(self) -> Reply:
        if self._instrumented_frontier:
            await self._instrumented_frontier.poll()
        self._last_scrape = time.monotonic()
        self._scraped.set()
        return 200, EXPOSITION, self._worker_metrics.text()

    async def _healthz(self) -> Reply:
        return 200, PLAIN, b"the loop turns\n"

    async def _readyz(self) -> Reply:
        if self._instrumented_frontier:
            await self._instrumented_frontier.poll()
        if self._instrumented_frontier and self._instrumented_frontier.is_reached:
            return 200, PLAIN, b"the store is reached\n"
        return 503, PLAIN, b"the store has not been reached for 30 seconds\n"


def _written(reply: Reply, *, with_body: bool) -> bytes:
    status, content_type, body = reply
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + (body if with_body else b"")
