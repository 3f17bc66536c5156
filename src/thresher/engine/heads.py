"""Heads of answers that end: Twisted bounds a line of headers, this bounds them all together.

A head that is too long closes the connection at once, and the fetch fails; nothing of it is kept.
"""

from __future__ import annotations

from scrapy.core.downloader.handlers.http11 import (
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IAddress
from twisted.python.failure import Failure
from twisted.web._newclient import HTTP11ClientProtocol, Request
from twisted.web.iweb import IResponse

MAX_HEAD_BYTES = 256 << 10
MAX_HEAD_LINES = 2000
"""Each line costs as much time as the rest of what came with it, so many short ones are dear."""


class HeadTooLong(Exception):
    """More headers than any page needs."""


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


class BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Hangs up on a server whose head is too long or makes no sense."""

    def request(self, request: Request) -> Deferred[IResponse]:
        """Send a request, and read its answer with bounds."""
        answer = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _BoundedParser  # as Scrapy does it: Twisted has no door for parsers
        return answer

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
