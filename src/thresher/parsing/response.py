"""Classification of HTTP responses: a page, a document, a feed, a redirect, something else, or a busy server."""

from __future__ import annotations

import email.utils
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum, auto

from thresher.parsing.documents.formats import document_format
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import FetchedPage
from thresher.urls.canonical import canonicalize

_PAGE_TYPES = (
    "text/html",
    "application/xhtml+xml",
    "application/vnd.wap.xhtml+xml",
    "text/plain",
    "text/markdown",
    "text/x-markdown",
)
_UNKNOWN_TYPES = ("unknown/unknown", "application/unknown", "*/*")  # as the MIME Sniffing Standard has it
_HTML_MARK = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,256}<(?:!doctype html|!--|(?:html|head|body|title|meta|script|style|h1|div|p|table)[\s>])",
    re.IGNORECASE,
).match
_ANY_TYPES = ("application/octet-stream", "binary/octet-stream", "application/force-download", "application/download")
FEED_TYPES = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json")
_MAYBE_FEED_TYPES = ("application/xml", "text/xml", "application/json")
_FEED_ROOT = re.compile(rb"<(?:rss|feed|rdf:RDF)[\s>]|\"version\"\s*:\s*\"https?:\\?/\\?/jsonfeed\.org").search
_FEED_ROOT_WITHIN = 2048
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class ResponseKind(Enum):
    """The kinds of responses."""

    PAGE = auto()
    DOCUMENT = auto()
    FEED = auto()
    REDIRECT = auto()
    REFUSAL = auto()
    BUSY = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseClass:
    """A classified HTTP response.

    Args:
        reason: Why there is no page.
        target: The canonical target of a redirect.
        document: The format of a document, such as ``pdf``.
        wait_seconds: The Retry-After time of a busy server; 0 without one.
    """

    kind: ResponseKind
    reason: Reason = NO_REASON
    target: str = ""
    document: str = ""
    wait_seconds: float = 0.0


def classify_response(fetched: FetchedPage, documents: Collection[str] = ()) -> ResponseClass:
    """Classify a response by its status, headers and, where the type is unspecific, its first bytes.

    Args:
        documents: The formats of documents that are read; others are refused.
    """
    if fetched.status in _REDIRECTS:
        return _redirect(fetched)
    if fetched.status in _BUSY:
        wait = retry_after(fetched.headers.get("retry-after", ""), now=fetched.fetched_at)
        return ResponseClass(
            kind=ResponseKind.BUSY, reason=Reason.of(ReasonKind.HTTP, fetched.status), wait_seconds=wait
        )
    if not 200 <= fetched.status < 300:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=Reason.of(ReasonKind.HTTP, fetched.status))
    content_type = _media_type(fetched.headers.get("content-type", ""))
    if document := _document(content_type, fetched.body, documents):
        return ResponseClass(kind=ResponseKind.DOCUMENT, document=document)
    if _is_feed(content_type, fetched.body):
        return ResponseClass(kind=ResponseKind.FEED, reason=Reason.of(ReasonKind.NOT_A_PAGE, content_type))
    if content_type and content_type not in _PAGE_TYPES and not _is_unlabelled_html(content_type, fetched.body):
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=Reason.of(ReasonKind.NOT_A_PAGE, content_type[:80]))
    return ResponseClass(kind=ResponseKind.PAGE)


def is_page_type(content_type: str) -> bool:
    """Return whether a Content-Type header is that of a page that can be parsed without conversion."""
    return _media_type(content_type) in ("", *_PAGE_TYPES)


def _media_type(content_type: str) -> str:
    """Return the first media type of a Content-Type header; some servers send several, or one in quotes."""
    return content_type.partition(";")[0].partition(",")[0].strip(' \t"').lower()


def _is_unlabelled_html(content_type: str, body: bytes) -> bool:
    """Return whether a body with a type that says nothing, such as ``html``, begins like HTML."""
    return ("/" not in content_type or content_type in _UNKNOWN_TYPES) and _HTML_MARK(body) is not None


def _document(content_type: str, body: bytes, documents: Collection[str]) -> str:
    """Return the format of a document, by its type or, where that is unspecific, by its body; empty for others."""
    is_any = not content_type or content_type in _ANY_TYPES
    for name in documents:
        known = document_format(name)
        if content_type in known.media_types or (is_any and known.is_body(body)):
            return name
    return ""


def _is_feed(content_type: str, body: bytes) -> bool:
    maybe = content_type in _MAYBE_FEED_TYPES and _FEED_ROOT(body[:_FEED_ROOT_WITHIN]) is not None
    return maybe or content_type in FEED_TYPES


def redirect_target(fetched: FetchedPage) -> str:
    """Return the canonical target of a redirect; empty for other responses, and without a usable one."""
    location = _escaped(fetched.headers.get("location", "").strip())
    if fetched.status not in _REDIRECTS or not location:
        return ""
    return canonicalize(location, fetched.url) or ""


def _redirect(fetched: FetchedPage) -> ResponseClass:
    target = redirect_target(fetched)
    if not target:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=Reason.of(ReasonKind.BAD_REDIRECT, fetched.status))
    if target == fetched.url:
        return ResponseClass(kind=ResponseKind.REFUSAL, reason=Reason(ReasonKind.REDIRECT_TO_ITSELF))
    return ResponseClass(kind=ResponseKind.REDIRECT, reason=Reason.of(ReasonKind.REDIRECT, target), target=target)


def _escaped(location: str) -> str:
    """Percent-encode the bytes of a Location that are not ASCII, as browsers do; headers are decoded as Latin-1."""
    if location.isascii():
        return location
    raw = location.encode("latin-1") if max(location) <= "\xff" else location.encode()
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)


def retry_after(value: str, *, now: float) -> float:
    """Parse a Retry-After header, in seconds or as a date; 0 when it is not valid."""
    if value.strip().isascii() and value.strip().isdigit():
        return float(value.strip()[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
