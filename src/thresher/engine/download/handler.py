"""Downloads with limits: in bytes, in time and in the slowness of a server.

What arrived before a limit was reached is kept and marked as truncated. Bodies are decompressed while they arrive, so a
worker never holds more than the largest page of any of them, and of all of them together not much more.

`SlowHostLimiter` limits the slots that slow servers occupy; there is no other limit on how long a worker waits for
them. A fetch is slow when it has taken ten times as long as the median. Slow fetches may occupy a fifth of the slots;
beyond that, the oldest are aborted. Their hosts are remembered, and wait for a slot of that fifth.

`fetched_page` and `failure_reason` convert Scrapy's responses and errors to our records and reasons.
"""

from __future__ import annotations

import math
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from statistics import median
from time import monotonic
from typing import Any

from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Request, Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol, connectionDone
from twisted.internet.task import LoopingCall
from twisted.python.failure import Failure
from twisted.web._newclient import ParseError
from twisted.web.client import Agent, ResponseDone
from twisted.web.http import PotentialDataLoss

from thresher.engine.download.decompression import Decompressor, Undecodable, codings
from thresher.engine.download.header_limits import BoundedFactory, BoundedHeaders, HeadTooLong
from thresher.records import FetchedPage
from thresher.urls.canonical import host_key

SLOW_SHARE = 0.2
SLOW_TIMES = 10.0
LEAST_SECONDS = 0.3
"""A faster fetch is never slow."""
FIRST_SECONDS = 5.0
"""Threshold while there are too few fetches for a median."""
WAIT_SECONDS = 30.0
"""How long a slow host waits when there is no slot for it."""

_SAMPLE = 100
_LEAST_SAMPLE = 10
_REMEMBERED = 10_000


class SlowHostLimiter:
    """Tracks the open fetches of a worker, and which hosts were slow."""

    def __init__(self, slots: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._slow_slots = max(1, int(slots * SLOW_SHARE))
        self._real_clock = clock
        self._excluded_seconds = 0.0
        self._open: dict[Hashable, tuple[str, float]] = {}  # in the order of their starts
        self._usual: deque[float] = deque(maxlen=_SAMPLE)
        self._slow_hosts: dict[str, None] = {}
        self.slow_seconds = FIRST_SECONDS

    def _clock(self) -> float:
        return self._real_clock() - self._excluded_seconds

    def exclude_seconds(self, seconds: float) -> None:
        """Do not count time in which this worker was too busy to read what had arrived."""
        self._excluded_seconds += seconds

    def may_begin(self, host: str) -> bool:
        """Return whether a fetch from a host may use a slot; only a host that was slow may have to wait."""
        return host not in self._slow_hosts or len(self._slow()) < self._slow_slots

    def begins(self, fetch: Hashable, host: str) -> None:
        self._open[fetch] = (host, self._clock())

    def ends(self, fetch: Hashable, *, answered: bool) -> None:
        host, start = self._open.pop(fetch)
        seconds = self._clock() - start
        if answered:
            self._usual.append(seconds)
        if seconds >= self.slow_seconds:
            self._slow_hosts[host] = None
            if len(self._slow_hosts) > _REMEMBERED:
                del self._slow_hosts[next(iter(self._slow_hosts))]
        elif answered:
            self._slow_hosts.pop(host, None)

    def too_many(self) -> list[Hashable]:
        """Return the fetches to abort, so that slow ones occupy no more than their share; call often."""
        if len(self._usual) >= _LEAST_SAMPLE:
            self.slow_seconds = max(LEAST_SECONDS, SLOW_TIMES * median(self._usual))
        slow = self._slow()
        return [
            fetch for fetch in slow[: max(0, len(slow) - self._slow_slots)] if self._seconds(fetch) >= self.slow_seconds
        ]

    def _slow(self) -> list[Hashable]:
        """Return the open fetches that are slow or from a slow host, oldest first."""
        latest = self._clock() - self.slow_seconds
        return [fetch for fetch, (host, start) in self._open.items() if start <= latest or host in self._slow_hosts]

    def _seconds(self, fetch: Hashable) -> float:
        return self._clock() - self._open[fetch][1]


TRUNCATED = "truncated"
"""The flag of a response whose body is incomplete."""

POLL_SECONDS = 0.1
PACE_SECONDS = 10.0
LEAST_BYTES_PER_SECOND = 1024
"""A body that arrives more slowly than this after `PACE_SECONDS` is aborted."""

MAX_HELD_BYTES = 16 << 20
"""Limit for all bodies of one scheme that are not settled yet; beyond it, large ones are truncated."""
_SMALL_BYTES = 1 << 20


class TooSlow(Exception):
    """A server occupies a slot that faster ones need."""


class NoBody(Exception):
    """A response ended, or was malformed, before the first byte of its body."""


class LeaseExpired(Exception):
    """The lease of a URL has expired, or will too soon to fetch it; no request was sent."""


class Download(Protocol):
    """One response: from its head to the last byte of its body, or to a limit."""

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
        self._body: Decompressor | None = None
        self._head: Deferred[Any] | None = None
        self.done: Deferred[bool] = Deferred()

    def begin(self, head: Deferred[Any]) -> Deferred[bool]:
        """Wait for the head, then for the body; the result is whether the body is complete."""
        self._head = head
        head.addCallback(self._head_came)
        head.addErrback(self._failed)
        return self.done

    def take_body(self) -> bytes:
        """Return the body as far as it arrived, once."""
        return self._body.body() if self._body else b""

    @property
    def held_bytes(self) -> int:
        return len(self._body) if self._body else 0

    def check(self, now: float) -> None:
        """Abort when time is up or the body arrives too slowly."""
        seconds = now - self.start
        too_slow = self._body and seconds > PACE_SECONDS and self._received < seconds * LEAST_BYTES_PER_SECOND
        if seconds >= self._seconds or too_slow:
            self.break_off(DownloadTimeoutError(f"longer than {seconds:.1f} s"))

    def break_off(self, error: Exception) -> None:
        """Abort: keep what arrived, or fail when nothing did."""
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
            self._body = Decompressor(codings(packed), self._max_bytes)
        except Undecodable as error:
            self._failed(Failure(error))  # type: ignore[no-untyped-call]
        if response.length == 0 and not self.done.called:  # Twisted would deliver nothing, not even the end
            self.done.callback(True)
            return
        response.deliverBody(self)
        if self.done.called:
            self._abort()

    def _failed(self, failure: Failure) -> None:
        if not self.done.called:
            self.done.errback(failure)

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
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
        """Handle the end of the body; one without a length ends with its connection."""
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
        """Close the connection at once, without waiting for the other side."""
        if producer := getattr(self.transport, "_producer", None):
            producer.abortConnection()
        elif self._head is not None and not self._head.called:
            self._head.cancel()


class BoundedDownload(HTTP11DownloadHandler):
    """Scrapy's handler and connection pool, with our own downloads."""

    def __init__(self, crawler: Crawler) -> None:
        from twisted.internet import reactor

        super().__init__(crawler)
        self.max_bytes = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self.timeout_seconds = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._pool._factory = BoundedFactory
        self._agent = Agent(  # type: ignore[no-untyped-call]
            reactor, self._contextFactory, connectTimeout=self.timeout_seconds, pool=self._pool
        )
        self._open: dict[Download, None] = {}
        self._held_bytes = 0
        self._checked_at = monotonic()
        self._checks = LoopingCall(self._check)
        self._checks.start(POLL_SECONDS, now=False)

    async def download_request(self, request: Request) -> Response:
        if monotonic() > request.meta.get("start_by", math.inf):
            raise LeaseExpired("there is not enough time left")
        slow_hosts: SlowHostLimiter = self._crawler.spider.slow_hosts  # type: ignore[union-attr]
        fetch = Download(self, request)
        headers = BoundedHeaders(request.headers)
        headers.send_by = fetch.end
        self._open[fetch] = None
        slow_hosts.begins(fetch, fetch.host)
        answered = False
        try:
            with wrap_twisted_exceptions():
                head = self._agent.request(b"GET", request.url.encode("ascii"), headers)
                whole = await maybe_deferred_to_future(fetch.begin(head))
            answered = True
        finally:
            del self._open[fetch]
            self._held_bytes -= fetch.held_bytes
            slow_hosts.ends(fetch, answered=answered)
        request.meta["download_latency"] = fetch.latency
        return self._response(request, fetch, whole=whole)

    def _response(self, request: Request, fetch: Download, *, whole: bool) -> Response:
        body, flags = fetch.take_body(), None if whole else [TRUNCATED]
        response = Response(request.url, status=fetch.status, headers=fetch.headers, body=body, flags=flags)
        if len(body) > _SMALL_BYTES:
            self.holds(len(body))
            weakref.finalize(response, self.holds, -len(body))
        return response

    def holds(self, more_bytes: int) -> bool:
        """Count the bytes of all bodies; return whether they are within the limit."""
        self._held_bytes += more_bytes
        return self._held_bytes <= MAX_HELD_BYTES

    def _check(self) -> None:
        now = monotonic()
        for fetch in list(self._open):
            fetch.check(now)
        slow_hosts: SlowHostLimiter = self._crawler.spider.slow_hosts  # type: ignore[union-attr]
        late_seconds, self._checked_at = now - self._checked_at - POLL_SECONDS, now
        if late_seconds > POLL_SECONDS:
            slow_hosts.exclude_seconds(late_seconds)
        for slow in slow_hosts.too_many():
            slow.break_off(TooSlow("slower than others"))  # type: ignore[attr-defined]

    async def close(self) -> None:
        self._checks.stop()
        await super().close()


ALL_LINES = "x-robots-tag"
"""The one header of which every line counts, not only the first; its values are joined by newlines."""

_REASONS: dict[type[Exception], tuple[str, bool]] = {  # the reason, and whether a retry may help
    DownloadTimeoutError: ("timeout", True),
    DownloadConnectionRefusedError: ("connection refused", True),
    CannotResolveHostError: ("no such host", True),
    UnsupportedURLSchemeError: ("not http", False),
    TooSlow: ("slower than others", True),
    Undecodable: ("cannot be decompressed", False),
    NoBody: ("truncated before its first byte", False),
    HeadTooLong: ("too many headers", False),
    ParseError: ("does not speak HTTP", False),
}


def fetched_page(response: Response, url: str) -> FetchedPage:
    """Convert a Scrapy response."""
    headers = {
        name.decode("latin-1").lower(): values[0].decode("latin-1")
        for name, values in response.headers.items()
        if values
    }
    if ALL_LINES in headers:
        headers[ALL_LINES] = b"\n".join(response.headers.getlist(ALL_LINES)).decode("latin-1")
    return FetchedPage(
        url=url,
        status=response.status,
        headers=headers,
        body=response.body,
        fetched_at=time.time(),
        elapsed_seconds=float(response.meta.get("download_latency", 0.0)),
        truncated=TRUNCATED in response.flags,
        header_lines=_lines(response.headers),
        request_lines=_lines(response.request.headers) if response.request else (),
    )


def _lines(headers: Headers) -> list[tuple[str, str]]:
    """Return all header lines, for the WARC file."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name in headers for value in headers.getlist(name)]


def failure_reason(error: BaseException | None) -> tuple[str, bool]:
    """Return why a fetch failed, and whether a retry may help."""
    for kind, reason in _REASONS.items():
        if any(isinstance(cause, kind) for cause in _causes(error)):
            return reason
    return type(error).__name__, True


def _causes(error: BaseException | None) -> list[BaseException | None]:
    """Return an error and the parse errors that Twisted wrapped into it."""
    wrapped = getattr(error, "__cause__", None)
    return [error, *(failure.value for failure in getattr(wrapped, "reasons", ()))]
