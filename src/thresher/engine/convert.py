"""Between Scrapy's words and ours."""

from __future__ import annotations

import time

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)
from scrapy.http import Response

from thresher.records import FetchedPage

_REASONS: dict[type[Exception], tuple[str, bool]] = {  # why, and whether another try may help
    DownloadTimeoutError: ("timeout", True),
    DownloadConnectionRefusedError: ("connection refused", True),
    CannotResolveHostError: ("no such host", True),
    DownloadCancelledError: ("too large", False),
    UnsupportedURLSchemeError: ("not http", False),
}


def fetched_page(response: Response, url: str) -> FetchedPage:
    """Read a Scrapy response."""
    headers = {
        name.decode("latin-1").lower(): values[0].decode("latin-1")
        for name, values in response.headers.items()
        if values
    }
    return FetchedPage(
        url=url,
        status=response.status,
        headers=headers,
        body=response.body,
        fetched_at=time.time(),
        elapsed_seconds=float(response.meta.get("download_latency", 0.0)),
        truncated="dataloss" in response.flags,
    )


def failure_reason(error: BaseException | None) -> tuple[str, bool]:
    """Say why a fetch failed, and whether another try may help."""
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    return type(error).__name__, True
