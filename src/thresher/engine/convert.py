"""Between Scrapy's words and ours."""

from __future__ import annotations

import time

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Headers, Response
from twisted.web._newclient import ParseError

from thresher.engine.download import TRUNCATED, NoBody, TooSlow
from thresher.engine.heads import HeadTooLong
from thresher.engine.unpacking import Undecodable
from thresher.records import FetchedPage

ALL_LINES = "x-robots-tag"
"""The one header of which every line counts, and not only the first; the lines are kept as lines."""

_REASONS: dict[type[Exception], tuple[str, bool]] = {  # why, and whether another try may help
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
    """Read a Scrapy response."""
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
    """Return all header lines, for the archive."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name in headers for value in headers.getlist(name)]


def failure_reason(error: BaseException | None) -> tuple[str, bool]:
    """Say why a fetch failed, and whether another try may help."""
    for kind, reason in _REASONS.items():
        if any(isinstance(cause, kind) for cause in _causes(error)):
            return reason
    return type(error).__name__, True


def _causes(error: BaseException | None) -> list[BaseException | None]:
    """Return an error and what Twisted wrapped into it: how the reading of an answer failed."""
    wrapped = getattr(error, "__cause__", None)
    return [error, *(failure.value for failure in getattr(wrapped, "reasons", ()))]
