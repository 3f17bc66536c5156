"""Why a fetch gave no page; and the reason for each of libcurl's error codes.

A reason is stored with its URL and shown to users.
"""

from __future__ import annotations

import errno
import re
from typing import TypeVar

import pycurl

from thresher.reasons.reason import Reason, ReasonKind
from thresher.urls.address_policy import PRIVATE

T = TypeVar("T")


class FetchFailed(Exception):
    """A fetch that gave no page.

    Args:
        kind: The kind of the reason that is stored with the URL.
        fields: The details of that reason.
        retry: Whether a retry may help.
    """

    def __init__(self, kind: ReasonKind, *fields: object, retry: bool = True) -> None:
        self.reason = Reason.of(kind, *fields)
        super().__init__(str(self.reason))
        self.retry = retry


class LeaseExpired(FetchFailed):
    """The lease of a URL has expired, or will too soon to fetch it; no request was sent."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.NO_TIME)


class WorkerStopped(FetchFailed):
    """The time of a fetch ran out while this worker did not run: that says nothing about the host."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.WORKER_STOPPED)


class TooSlow(FetchFailed):
    """A server occupies a slot that faster ones need."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.SLOW)


class AddressRefused(FetchFailed):
    """The address guard refused a name, its addresses or its port; no connection was opened."""

    def __init__(self, why: str) -> None:
        super().__init__(ReasonKind.PRIVATE_ADDRESS if why in PRIVATE else ReasonKind.REFUSED_ADDRESS, why, retry=False)
        self.why = why


class NotHttp(FetchFailed):
    """A server that sends something else than HTTP."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.NOT_HTTP, retry=False)


class HeadTooLong(FetchFailed):
    """More headers than any page needs."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.HEAD_TOO_LONG, retry=False)


class NoBody(FetchFailed):
    """A response ended, or was malformed, before the first byte of its body."""

    def __init__(self) -> None:
        super().__init__(ReasonKind.NO_BODY, retry=False)


class CertificateInvalid(FetchFailed):
    """The certificate of a server is not valid for its host; nothing was sent.

    Args:
        problem: What is wrong with it, such as ``has expired``.
        is_secret: Whether a secret would have been sent, for which no setting accepts the certificate.
    """

    def __init__(self, problem: str, *, is_secret: bool = False) -> None:
        remedy = "so no secret was sent" if is_secret else "network.tls: record accepts it"
        super().__init__(ReasonKind.CERTIFICATE, f"{problem}; {remedy}", retry=False)
        self.problem = problem


def timed_out() -> FetchFailed:
    """Return the failure of a fetch that took too long."""
    return FetchFailed(ReasonKind.TIMEOUT)


class ProxyRefused(FetchFailed):
    """The proxy of the crawl did not pass a request on."""

    def __init__(self, status: int) -> None:
        super().__init__(ReasonKind.PROXY_STATUS, status)


_TUNNEL_REFUSED = re.compile(r"CONNECT tunnel failed, response (\d+)")
_WEIRD_SERVER_REPLY, _TOO_LARGE = 8, 100  # pycurl has no names for them
_NOT_HTTP = frozenset({pycurl.E_UNSUPPORTED_PROTOCOL, _WEIRD_SERVER_REPLY})
_LARGE_HEAD = "Too large response headers"  # reported as a receive error
_MALFORMED_HEADS = {
    "Header without colon": ReasonKind.HEADER_LINE,
    "Multiple Location": ReasonKind.TWO_ADDRESSES,
}
"""What libcurl refuses in the head of a response, and no option of it allows."""
_CERTIFICATE_PROBLEMS = {
    "has expired": "has expired",
    "not yet valid": "is not valid yet",
    "self-signed": "is self-signed",
    "self signed": "is self-signed",
    "matches target": "is for another host",
    "does not match": "is for another host",
    "issuer": "is not from a trusted authority",
    "revoked": "was revoked",
}
"""What is wrong with a certificate, by words of libcurl's message."""
_OLD_TLS = re.compile(
    r"protocol version|unsupported protocol|handshake failure|no cipher|too small|legacy", re.IGNORECASE
)


def failure_for(code: int, os_error: int, message: str) -> FetchFailed:
    """Return the failure for an error of libcurl that came before the body of a response."""
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return timed_out()
    if refused := _TUNNEL_REFUSED.search(message):
        return ProxyRefused(int(refused[1]))
    if code == pycurl.E_COULDNT_CONNECT and os_error == errno.ECONNREFUSED:
        return FetchFailed(ReasonKind.CONNECTION_REFUSED)
    if code == _TOO_LARGE or _LARGE_HEAD in message:
        return HeadTooLong()
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return CertificateInvalid(_found(message, _CERTIFICATE_PROBLEMS) or "is not trusted")
    if code == pycurl.E_SSL_CONNECT_ERROR and _OLD_TLS.search(message):
        return FetchFailed(ReasonKind.TLS, retry=False)
    if code in _NOT_HTTP:
        malformed = _found(message, _MALFORMED_HEADS)
        return FetchFailed(malformed, retry=False) if malformed else NotHttp()
    if code == pycurl.E_URL_MALFORMAT:
        return FetchFailed(ReasonKind.INVALID_URL, retry=False)
    return FetchFailed(ReasonKind.CONNECTION)


def _found(message: str, meanings: dict[str, T]) -> T | None:
    return next((meaning for words, meaning in meanings.items() if words in message), None)
