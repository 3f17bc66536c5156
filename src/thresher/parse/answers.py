"""What an HTTP answer means for a crawler: a page, a redirect, something else, or a server that wants a rest."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from enum import Enum, auto

from thresher.records import FetchedPage
from thresher.urls.canonical import canonicalize

_PAGE_TYPES = ("text/html", "application/xhtml+xml", "text/plain")
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class AnswerKind(Enum):
    """The four things a server can say."""

    PAGE = auto()
    REDIRECT = auto()
    REFUSAL = auto()
    BUSY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP answer, understood.

    Args:
        reason: For people: why there is no page.
        target: Where a redirect leads, canonical.
        wait_seconds: How long a busy server asked us to wait; 0 when it did not say.
    """

    kind: AnswerKind
    reason: str = ""
    target: str = ""
    wait_seconds: float = 0.0


def read_answer(fetched: FetchedPage) -> Answer:
    """Understand an answer by its status and headers alone."""
    if fetched.status in _REDIRECTS:
        return _redirect(fetched)
    if fetched.status in _BUSY:
        wait = retry_after(fetched.headers.get("retry-after", ""), now=fetched.fetched_at)
        return Answer(kind=AnswerKind.BUSY, reason=f"http {fetched.status}", wait_seconds=wait)
    if not 200 <= fetched.status < 300:
        return Answer(kind=AnswerKind.REFUSAL, reason=f"http {fetched.status}")
    content_type = fetched.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type and content_type not in _PAGE_TYPES:
        return Answer(kind=AnswerKind.REFUSAL, reason=f"not a page: {content_type[:80]}")
    return Answer(kind=AnswerKind.PAGE)


def _redirect(fetched: FetchedPage) -> Answer:
    target = canonicalize(fetched.headers.get("location", "").strip(), fetched.url)
    if not fetched.headers.get("location") or target is None:
        return Answer(kind=AnswerKind.REFUSAL, reason=f"http {fetched.status} without a usable address")
    if target == fetched.url:
        return Answer(kind=AnswerKind.REFUSAL, reason="redirects to itself")
    return Answer(kind=AnswerKind.REDIRECT, reason=f"redirected to {target}", target=target)


def retry_after(value: str, *, now: float) -> float:
    """Read a Retry-After header, in seconds or as a date; 0 when it says nothing that can be used."""
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
