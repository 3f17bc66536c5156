"""Fetches that end: bounded in bytes, in time and in how slow a server may be.

What came before a bound was reached is kept and marked as truncated. Bodies are unpacked while they come, so a worker
never holds more than the largest page of any of them, and of all of them together not much more.
"""

from __future__ import annotations

import math
import weakref
from time import monotonic
from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import LoopingCall
from twisted.python.failure import Failure
from twisted.web.client import Agent, ResponseDone
from twisted.web.http import PotentialDataLoss

from thresher.engine.heads import BoundedFactory, TimelyHeaders
from thresher.engine.patience import Patience
from thresher.engine.unpacking import Undecodable, Unpacker, codings
from thresher.urls.host import host_key

TRUNCATED = "truncated"
"""The flag of a response whose body is not whole."""

LOOK_SECONDS = 0.1
PACE_SECONDS = 10.0
LEAST_BYTES_PER_SECOND = 1024
"""A body that after `PACE_SECONDS` has come more slowly than this is broken off."""

MAX_HELD_BYTES = 16 << 20
"""Bodies that came by one scheme and are not settled yet may hold this much together; then large ones are cut."""
_SMALL_BYTES = 1 << 20


class TooSlow(Exception):
    """A server that holds a slot which faster ones need."""


class NoBody(Exception):
    """An answer that broke off, or made no sense, before the first byte of its body."""


class LeaseOver(Exception):
    """A URL is ours no longer, or for too short a time to fetch it; nobody was asked."""


class Fetch(Protocol):
    """One request: from its head to the last byte of its body, or as much of that as is wanted."""

    def __init__(self, handler: BoundedDownload, request: Request) -> None:
        self._handler = handler
        self._seconds = float(request.meta.get("download_timeout") or handler.timeout_seconds)
        self._max_bytes = int(request.meta.get("download_maxsize") or handler.max_bytes)
        self.host = host_key(request.url)
        self.start = monotonic()
        self.end = self.start + self._seconds
        self.headers: dict[bytes, list[bytes]] = {}
        self.status = 0
        self.latency = 0.0
        self._received = 0
        self._body: Unpacker | None = None
        self._head: Deferred[Any] | None = None
        self.done: Deferred[bool] = Deferred()

    def begin(self, head: Deferred[Any]) -> Deferred[bool]:
        """Wait for the head, then for the body; the result tells whether that is whole."""
        self._head = head
        head.addCallback(self._head_came)
        head.addErrback(self._failed)
        return self.done

    def take_body(self) -> bytes:
        """Hand over what came of the body, once."""
        return self._body.body() if self._body else b""

    @property
    def held_bytes(self) -> int:
        """How much memory the body takes."""
        return len(self._body) if self._body else 0

    def look(self, now: float) -> None:
        """Break off when the time is up or the body comes too slowly."""
        seconds = now - self.start
        too_slow = self._body and seconds > PACE_SECONDS and self._received < seconds * LEAST_BYTES_PER_SECOND
        if seconds >= self._seconds or too_slow:
            self.break_off(DownloadTimeoutError(f"longer than {seconds:.1f} s"))

    def break_off(self, error: Exception) -> None:
        """Want no more: keep what came, or fail when nothing came."""
        if self.done.called:
            return
        if self.held_bytes:
            self._cut()
            return
        self.done.errback(Failure(error))  # type: ignore[no-untyped-call]
        self._abort()

    def _head_came(self, response: Any) -> None:
        self.latency = monotonic() - self.start
        self.status = int(response.code)
        self.headers = dict(response.headers.getAllRawHeaders())
        packed = [value.decode("latin-1") for value in response.headers.getRawHeaders(b"content-encoding", [])]
        try:
            self._body = Unpacker(codings(packed), self._max_bytes)
        except Undecodable as error:
            self._failed(Failure(error))  # type: ignore[no-untyped-call]
        if response.length == 0 and not self.done.called:  # then nothing would be delivered, not even the end
            self.done.callback(True)
            return
        response.deliverBody(self)
        if self.done.called:
            self._abort()

    def _failed(self, failure: Failure) -> None:
        if not self.done.called:
            self.done.errback(failure)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take the next bytes of the body."""
        if self.done.called or self._body is None:
            return
        self._received += len(data)
        before = len(self._body)
        try:
            wanted = self._body.take(data)
        except Undecodable as error:
            self.break_off(error)
            return
        if not self._handler.holds(len(self._body) - before) and len(self._body) > _SMALL_BYTES:
            wanted = False
        if not wanted:
            self._cut()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: N802 - Twisted's name
        """Take the end of the body; one without a length ends with its connection."""
        if self.done.called:
            return
        whole = isinstance(reason.value, ResponseDone | PotentialDataLoss)
        if whole or self.held_bytes:
            self.done.callback(whole)
        else:
            self.done.errback(Failure(NoBody()))  # type: ignore[no-untyped-call]

    def _cut(self) -> None:
        self.done.callback(False)
        self._abort()

    def _abort(self) -> None:
        """Close the connection at once, whatever the other side thinks of it."""
        if producer := getattr(self.transport, "_producer", None):
            producer.abortConnection()
        elif self._head is not None and not self._head.called:
            self._head.cancel()


class BoundedDownload(HTTP11DownloadHandler):
    """Scrapy's handler with its connections, and with fetches of our own."""

    def __init__(self, crawler: Crawler) -> None:
        from twisted.internet import reactor

        super().__init__(crawler)
        self.max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self.timeout_seconds = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._pool._factory = BoundedFactory
        self._agent = Agent(  # type: ignore[no-untyped-call]
            reactor, self._contextFactory, connectTimeout=self.timeout_seconds, pool=self._pool
        )
        self._open: dict[Fetch, None] = {}
        self._held_bytes = 0
        self._looked_at = monotonic()
        self._look_round = LoopingCall(self._look)
        self._look_round.start(LOOK_SECONDS, now=False)

    async def download_request(self, request: Request) -> Response:
        """Fetch, and return what came."""
        if monotonic() > request.meta.get("start_by", math.inf):
            raise LeaseOver("there is not enough time left")
        patience: Patience = self._crawler.spider.patience  # type: ignore[union-attr]
        fetch = Fetch(self, request)
        headers = TimelyHeaders(request.headers)
        headers.send_by = fetch.end
        self._open[fetch] = None
        patience.begins(fetch, fetch.host)
        answered = False
        try:
            with wrap_twisted_exceptions():
                head = self._agent.request(b"GET", request.url.encode("ascii"), headers)
                whole = await maybe_deferred_to_future(fetch.begin(head))
            answered = True
        finally:
            del self._open[fetch]
            self._held_bytes -= fetch.held_bytes
            patience.ends(fetch, answered=answered)
        request.meta["download_latency"] = fetch.latency
        return self._response(request, fetch, whole=whole)

    def _response(self, request: Request, fetch: Fetch, *, whole: bool) -> Response:
        body, flags = fetch.take_body(), None if whole else [TRUNCATED]
        response = Response(request.url, status=fetch.status, headers=fetch.headers, body=body, flags=flags)
        if len(body) > _SMALL_BYTES:
            self.holds(len(body))
            weakref.finalize(response, self.holds, -len(body))
        return response

    def holds(self, more_bytes: int) -> bool:
        """Count what bodies hold together; tell whether there is room for more."""
        self._held_bytes += more_bytes
        return self._held_bytes <= MAX_HELD_BYTES

    def _look(self) -> None:
        now = monotonic()
        for fetch in list(self._open):
            fetch.look(now)
        patience: Patience = self._crawler.spider.patience  # type: ignore[union-attr]
        late_seconds, self._looked_at = now - self._looked_at - LOOK_SECONDS, now
        if late_seconds > LOOK_SECONDS:
            patience.forgive(late_seconds)
        for slow in patience.too_many():
            slow.break_off(TooSlow("slower than others"))  # type: ignore[attr-defined]

    async def close(self) -> None:
        """Let the connections go."""
        self._look_round.stop()
        await super().close()
