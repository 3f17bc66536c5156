"""Where a worker tells how it is: a tiny HTTP server inside its own loop.

``/metrics`` for Prometheus; ``/healthz`` answers as long as the loop turns; ``/readyz`` says whether the store was
reached in the last 30 seconds. Every worker has a port of its own, the first port plus its number on this machine: so
nothing is shared between processes, and the figures of a killed worker go with it. Adding up is Prometheus' work.

It listens on loopback unless told otherwise, reads little, answers at once and closes; it changes nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from thresher.engine.figures import Figures
from thresher.engine.metrics import Measured
from thresher.frontier.base import Frontier

logger = logging.getLogger(__name__)

ADDRESS = "127.0.0.1"
READ_SECONDS = 5.0
MAX_BYTES = 16 << 10
MAX_OPEN = 32
"""Questions open at once; more are turned away, so that nobody keeps a worker busy with answering."""
LAG_SECONDS = 0.5
"""How often the loop's lag is taken."""
PLAIN = "text/plain; charset=utf-8"
EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"

Reply = tuple[int, str, bytes]
_PHRASES = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


class Endpoint:
    """The figures of one worker, and the place where they are served.

    Args:
        port: 0 for any that is free; `port` then says which.
        pages: The folder of the page store, when it holds all pages of the crawl.
    """

    def __init__(self, figures: Figures, *, address: str = ADDRESS, port: int = 0, pages: Path | None = None) -> None:
        self.port = port
        self._address = address
        self._figures = figures
        self._counted_pages = pages
        self._measured: Measured | None = None
        self._server: asyncio.Server | None = None
        self._starting: asyncio.Task[None] | None = None
        self._lag: asyncio.Task[None] | None = None
        self._open = 0
        self._pages: dict[str, Callable[[], Awaitable[Reply]]] = {
            "/metrics": self._metrics,
            "/healthz": self._healthz,
            "/readyz": self._readyz,
        }

    def around(self, frontier: Frontier) -> Measured:
        """Measure a frontier; to be called once, before anything is asked of it."""
        self._measured = Measured(frontier, self._figures, pages=self._counted_pages)
        return self._measured

    def serve_in_reactor(self) -> None:
        """Serve from when Twisted's loop turns until it ends; to be called after the reactor was chosen."""
        from twisted.internet import reactor

        def begin() -> None:
            self._starting = asyncio.ensure_future(self.start())

        reactor.callLater(0, begin)  # type: ignore[arg-type]  # the stubs take an interface for an object
        reactor.addSystemEventTrigger("before", "shutdown", self.stop)  # type: ignore[arg-type]

    async def start(self) -> None:
        """Begin to serve; a port that is taken is logged, and the crawl goes on unseen."""
        try:
            self._server = await asyncio.start_server(self._serve, self._address, self.port, limit=MAX_BYTES)
        except OSError as error:
            logger.error("no metrics on %s:%s: %s", self._address, self.port, error.strerror or error)
            return
        self.port = self._server.sockets[0].getsockname()[1]
        self._lag = asyncio.create_task(self._watch_the_loop())

    def stop(self) -> None:
        """Stop serving."""
        if self._server:
            self._server.close()
        if self._lag:
            self._lag.cancel()
        if self._measured:
            self._measured.stop_looking()

    async def _watch_the_loop(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_SECONDS
            await asyncio.sleep(LAG_SECONDS)
            self._figures.loop_lag.observe(max(0.0, loop.time() - due))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            with suppress(OSError, TimeoutError):  # whoever asked is gone, or says nothing
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
        if self._measured:
            await self._measured.look()
        return 200, EXPOSITION, self._figures.text()

    async def _healthz(self) -> Reply:
        return 200, PLAIN, b"the loop turns\n"

    async def _readyz(self) -> Reply:
        if self._measured:
            await self._measured.look()
        if self._measured and self._measured.is_reached:
            return 200, PLAIN, b"the store is reached\n"
        return 503, PLAIN, b"the store has not been reached for 30 seconds\n"


def _written(reply: Reply, *, with_body: bool) -> bytes:
    status, content_type, body = reply
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
        "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + (body if with_body else b"")
