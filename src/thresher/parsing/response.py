"""Classification of HTTP responses: a page, a redirect, something else, or a busy server."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from enum import Enum, auto

from thresher.records import FetchedPage
from thresher.urls.canonical import canonicalize

_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ResponseKind(Enum):
    """The kinds of responses."""

    PAGE = auto()
    REDIRECT = auto()
    REFUSAL = auto()
    BUSY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseClass:
    """A classified HTTP response.

    Args:
        reason: Why there is no page, for users.
        target: The canonical target of a redirect.
        wait_seconds: The Retry-After time of a busy server; 0 without one.
    """

    kind: ResponseKind
    reason: str = ""
    target: str = ""
    wait_seconds: float = 0.0


def classify_response(fetched: FetchedPage) -> ResponseClass:
    """Classify a response by its status and headers."""
    if fetched.status in _REDIRECTS:
        return _redirect(fetched)
    if fetched.status in _BUSY:
        wait = retry_after(fetched.headers.get("retry-after", ""), now=fetched.fetched_at)
        return ResponseClass(kind=ResponseKind.BUSY, reason=f"http {fetched.status}", wait_seconds=wait)
    if not 200 <= fetched.status < 300:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=f"http {fetched.status}")
    content_type = fetched.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type and content_type not in _PAGE_TYPES:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=f"not a page: {content_type[:80]}")
    return ResponseClass(kind=ResponseKind.PAGE)


def _redirect(fetched: FetchedPage) -> ResponseClass:
    target = canonicalize(fetched.headers.get("location", "").strip(), fetched.url)
    if not fetched.headers.get("location") or target is None:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=f"http {fetched.status} without a usable address")
    if target == fetched.url:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason="redirects to itself")
    return ResponseClass(kind=ResponseKind.REDIRECT, reason=f"redirected to {target}", target=target)


def retry_after(value: str, *, now: float) -> float:
    """Parse a Retry-After header, in seconds or as a date; 0 when it is not valid."""
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
