"""Why a fetch gave no page; and the reason for each of libcurl's error codes.

A reason is stored with its URL and shown to users.
"""

from __future__ import annotations

import errno
import re

import pycurl


class FetchFailed(Exception):
    """A fetch that gave no page.

    Args:
        reason: What is stored with the URL.
        retry: Whether a retry may help.
    """

    def __init__(self, reason: str, *, retry: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry = retry


class LeaseExpired(FetchFailed):
    """The lease of a URL has expired, or will too soon to fetch it; no request was sent."""

    def __init__(self) -> None:
        super().__init__("there is not enough time left")


class TooSlow(FetchFailed):
    """A server occupies a slot that faster ones need."""

    def __init__(self) -> None:
        super().__init__("slower than others")


class AddressRefused(FetchFailed):
    """The address guard refused a name, its addresses or its port; no connection was opened."""

    def __init__(self, why: str) -> None:
        super().__init__(f"refused: {why}", retry=False)
        self.why = why


class NotHttp(FetchFailed):
    """A server that sends something else than HTTP."""

    def __init__(self) -> None:
        super().__init__("does not speak HTTP", retry=False)


class HeadTooLong(FetchFailed):
    """More headers than any page needs."""

    def __init__(self) -> None:
        super().__init__("too many headers", retry=False)


class NoBody(FetchFailed):
    """A response ended, or was malformed, before the first byte of its body."""

    def __init__(self) -> None:
        super().__init__("truncated before its first byte", retry=False)


def timed_out() -> FetchFailed:
    """Return the failure of a fetch that took too long."""
    return FetchFailed("timeout")


class ProxyRefused(FetchFailed):
    """The proxy of the crawl did not pass a request on."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the proxy answered http {status}")


_TUNNEL_REFUSED = re.compile(r"CONNECT tunnel failed, response (\d+)")
_WEIRD_SERVER_REPLY, _TOO_LARGE = 8, 100  # pycurl has no names for them
_NOT_HTTP = frozenset({pycurl.E_UNSUPPORTED_PROTOCOL, _WEIRD_SERVER_REPLY})
_LARGE_HEAD = "Too large response headers"  # reported as a receive error


def failure_for(code: int, os_error: int, message: str) -> FetchFailed:
    """Return the failure for an error of libcurl that came before the body of a response."""
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return timed_out()
    if refused := _TUNNEL_REFUSED.search(message):
        return ProxyRefused(int(refused[1]))
    if code == pycurl.E_COULDNT_CONNECT and os_error == errno.ECONNREFUSED:
        return FetchFailed("connection refused")
    if code == _TOO_LARGE or _LARGE_HEAD in message:
        return HeadTooLong()
    if code == pycurl.E_PEER_FAILED_VERIFICATION:  # checked only where a secret would be sent
        return FetchFailed("its certificate is not trusted, so no secret was sent", retry=False)
    if code in _NOT_HTTP:
        return NotHttp()
    if code == pycurl.E_URL_MALFORMAT:
        return FetchFailed("not a valid URL", retry=False)
    return FetchFailed("connection failed")
