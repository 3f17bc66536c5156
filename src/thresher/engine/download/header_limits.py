"""Limits for the head of a response: Twisted limits one header line, this limits all of them together.

A head that is too long closes the connection at once, and the fetch fails; nothing of it is kept.

Requests also have a deadline: a worker that was suspended while it connected may wake up when its lease has expired. So
a request is written to the socket right after the check of its deadline, not in the next iteration of the loop.
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
"""The time for each line grows with the rest of the data received with it: many short lines are expensive."""


class HeadTooLong(Exception):
    """More headers than any page needs."""


class BoundedHeaders(Headers):
    """Headers of a request that must be sent by a time of the monotonic clock, or not at all."""

    send_by = math.inf

    def copy(self) -> BoundedHeaders:
        copied = BoundedHeaders(dict(self.getAllRawHeaders()))
        copied.send_by = self.send_by
        return copied


class _BoundedParser(_LenientHTTPClientParser):
    """Counts the bytes and lines before the body, including those of interim responses."""

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
    """Closes the connection to a server whose head is too long or malformed."""

    _send_by = math.inf

    def request(self, request: Request) -> Deferred[IResponse]:
        """Send a request, unless its deadline is over, and read its response with limits."""
        self._send_by = getattr(request.headers, "send_by", math.inf)
        if self._aborted_late():
            return fail(DownloadTimeoutError("connected too late"))
        answer = super().request(request)
        self.transport.doWrite()  # type: ignore[union-attr]  # under TLS this sends the handshake data that is ready
        if self._parser is not None:
            self._parser.__class__ = _BoundedParser  # as Scrapy does it: Twisted has no hook for parsers
        return answer

    def handshakeCompleted(self) -> None:  # noqa: N802 - Twisted's name
        """Send what was written during the handshake, or abort if that took too long."""
        self._aborted_late()

    def _aborted_late(self) -> bool:
        late = monotonic() > self._send_by
        if late:
            self.transport.abortConnection()  # type: ignore[union-attr]
        return late

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        """Parse data; abort on an error, since Twisted would close gracefully and go on reading from the server."""
        try:
            self._parser.dataReceived(data)  # type: ignore[union-attr]
        except Exception:
            failure = Failure()  # type: ignore[no-untyped-call]
            self.transport.abortConnection()  # type: ignore[union-attr]
            self._disconnectParser(failure)  # type: ignore[no-untyped-call]


class BoundedFactory(_LenientHTTP11ClientFactory):
    """The factory of the connection pool."""

    def buildProtocol(self, addr: IAddress | None) -> HTTP11ClientProtocol:  # noqa: N802 - Twisted's name
        return BoundedProtocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
