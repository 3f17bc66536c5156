"""Heads of answers that end: Twisted bounds a line of headers, this bounds them all together.

A head that is too long closes the connection at once, and the fetch fails; nothing of it is kept. And heads of requests
that are not sent too late: a worker that was asleep while it connected wakes up when the host is no longer its own. So
a request goes to the kernel in the moment it is found to be in time, not in the next turn of the loop.
"""

from __future__ import annotations

import math
from time import monotonic

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadTimeoutError
from twisted.internet.defer import Deferred, fail
from twisted.internet.interfaces import IAddress, IHandshakeListener
from twisted.python.failure import Failure
from twisted.web._newclient import HTTP11ClientProtocol, Request
from twisted.web.http_headers import Headers
from twisted.web.iweb import IResponse
from zope.interface import implementer

MAX_HEAD_BYTES = 256 << 10
MAX_HEAD_LINES = 2000
"""Each line costs as much time as the rest of what came with it, so many short ones are dear."""


class HeadTooLong(Exception):
    """More headers than any page needs."""


class TimelyHeaders(Headers):
    """Headers of a request that must be sent by a moment of the monotonic clock, or not at all."""

    send_by = math.inf

    def copy(self) -> TimelyHeaders:
        """Return a copy that knows the moment too."""
        copied = TimelyHeaders(dict(self.getAllRawHeaders()))
        copied.send_by = self.send_by
        return copied


class _BoundedParser(_LenientHTTPClientParser):
    """Counts what comes before the body, heads that announce the real one included."""

    head_bytes = 0
    head_lines = 0

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        self.head_lines += 1
        self.head_bytes += len(line) + 1
        if self.head_bytes > MAX_HEAD_BYTES or self.head_lines > MAX_HEAD_LINES:
            raise HeadTooLong(f"more than {MAX_HEAD_BYTES} bytes or {MAX_HEAD_LINES} lines")
        super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        raise HeadTooLong(f"a line of {len(line)} bytes")


@implementer(IHandshakeListener)
class BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Hangs up on a server whose head is too long or makes no sense."""

    _send_by = math.inf

    def request(self, request: Request) -> Deferred[IResponse]:
        """Send a request, unless it is too late for it, and read its answer with bounds."""
        self._send_by = getattr(request.headers, "send_by", math.inf)
        if self._hung_up_late():
            return fail(DownloadTimeoutError("connected too late"))
        answer = super().request(request)
        self.transport.doWrite()  # type: ignore[union-attr]  # under TLS this sends what of the handshake is ready
        if self._parser is not None:
            self._parser.__class__ = _BoundedParser  # as Scrapy does it: Twisted has no door for parsers
        return answer

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Let go what was written during a handshake, or not, when that took too long."""
        self._hung_up_late()

    def _hung_up_late(self) -> bool:
        late = monotonic() > self._send_by
        if late:
            self.transport.abortConnection()  # type: ignore[union-attr]
        return late

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Take what came; Twisted would close politely, and a server that goes on sending would be listened to."""
        try:
            self._parser.dataReceived(data)  # type: ignore[union-attr]
        except Exception:
            failure = Failure()  # type: ignore[no-untyped-call]
            self.transport.abortConnection()  # type: ignore[union-attr]
            self._disconnectParser(failure)  # type: ignore[no-untyped-call]


class BoundedFactory(_LenientHTTP11ClientFactory):
    """What a pool of connections makes its connections with."""

    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:  # noqa: N802 - Twisted's name
        """Make the protocol of one connection."""
        return BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
