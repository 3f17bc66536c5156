"""The metrics endpoint of a worker: a tiny HTTP server in its own event loop.

``/metrics`` for Prometheus; ``/healthz`` answers as long as the event loop runs; ``/readyz`` reports whether the store
was reached in the last 30 seconds. Every worker has its own port, the first port plus its number on this machine, so
nothing is shared between processes, and the figures of a killed worker go with it. Prometheus adds them up.

It listens on loopback by default, reads little, answers at once and closes; it changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from thresher.frontier.base import CrawlStore
from thresher.monitoring.frontier_metrics import InstrumentedFrontier
from thresher.monitoring.prometheus import WorkerMetrics

logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
READ_SECONDS = 5.0
MAX_BYTES = 16 << 10
MAX_OPEN = 32
"""Open connections; more are closed without a response, so that no client can keep a worker busy."""
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
