"""What is to be fetched for a lease, and the headers of every request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from thresher import __version__
from thresher.config.schema import CrawlConfig
from thresher.config.secrets import Secret
from thresher.engine.download.decompression import ACCEPTED
from thresher.parsing.documents.formats import document_format
from thresher.records import Lease

ROBOTS_TOKEN = "Thresher"  # noqa: S105 - the product token of RFC 9309, not a secret

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, kw_only=True)
class FetchRequest:
    """A GET request for a lease.

    Args:
        start_by: Latest start by the monotonic clock, so that the fetch ends before its lease.
        headers: Replace or complete the headers of every request.
        max_bytes: Limit for the body; None for that of pages.
        is_robots: Whether it is for the robots.txt that the lease needs, not for its page.
        cookies: Those that the host set during this lease; None without any.
    """

    url: str
    lease: Lease
    timeout_seconds: float
    start_by: float
    headers: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int | None = None
    is_robots: bool = False
    cookies: Secret | None = None


def user_agent(contact: str) -> str:
    """Return the User-Agent header, with the contact address."""
    return f"Thresher/{__version__} (+{contact})" if contact else f"Thresher/{__version__}"


def usual_headers(config: CrawlConfig) -> dict[str, str]:
    """Return the headers of every request of a crawl."""
    formats = "".join(f",{document_format(name).media_types[0]};q=0.7" for name in config.documents.formats)
    page = "text/markdown,text/html;q=0.9" if config.documents.prefer_markdown else "text/html"
    languages = [f"{code};q={1 - 0.1 * place:.1f}" for place, code in enumerate(config.title_languages[:9])]
    return {
        "User-Agent": user_agent(config.politeness.contact),
        "Accept": f"{page},application/xhtml+xml;q=0.9{formats},text/plain;q=0.5",
        "Accept-Encoding": ACCEPTED,
        "Accept-Language": ", ".join([*languages, "*;q=0.1"]) if languages else "*",
    }


def checked_lines(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return headers as lines to send.

    Raises:
        ValueError: A name or a value would break the request; libcurl sends line breaks as they are.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name) or not value or not value.isascii() or _CONTROL.search(value):
            raise ValueError(f"not a header: {name!r}: {value!r}")
    return list(headers.items())
