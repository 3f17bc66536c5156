"""Answers that scripts often need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from testing.recording_server.script import Answer, Fill, Packed


def page(title: str, text: str, links: Iterable[str] | Mapping[str, str] = (), **more: Any) -> Answer:
    """A page with a title, a paragraph and links; a mapping gives the links their words."""
    anchors = links.items() if isinstance(links, Mapping) else ((link, "more of this") for link in links)
    listed = "".join(f'<li><a href="{escape(link)}">{escape(words)}</a>\n' for link, words in anchors)
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
    return Answer(
        body=f"{head}<body><h1>{escape(title)}</h1>\n<p>{escape(text)}</p>\n<ul>{listed}</ul></body></html>\n", **more
    )


def text(body: str | bytes | Fill, **more: Any) -> Answer:
    """Plain text, such as robots.txt."""
    return Answer(body=body, content_type="text/plain; charset=utf-8", **more)


def redirect(location: str, status: int = 302, **more: Any) -> Answer:
    """A redirect."""
    return Answer(status=status, headers=[("Location", location)], **more)


def busy(status: int = 429, retry_after: str | int | None = None, **more: Any) -> Answer:
    """A host that has had enough: 429 or 503, perhaps with Retry-After."""
    headers = [] if retry_after is None else [("Retry-After", str(retry_after))]
    return Answer(status=status, headers=headers, **more)


def echo(**more: Any) -> Answer:
    """The request, as JSON."""
    return Answer(echo=True, **more)


def reset() -> Answer:
    """A reset in place of an answer."""
    return Answer(head=False, reset_after=0)


def hang() -> Answer:
    """Silence: the request is taken and never answered."""
    return Answer(head=False, hang_after=0)


def drip(bytes_per_second: float = 1.0) -> Answer:
    """An endless page that comes drop by drop."""
    return Answer(
        body=Fill(size=None, pattern="drop ", start="<title>Slow</title><p>"), bytes_per_second=bytes_per_second
    )


def slow_head(bytes_per_second: float = 1.0, **more: Any) -> Answer:
    """Headers that come byte by byte."""
    return Answer(head_bytes_per_second=bytes_per_second, **more)


def endless(pattern: str | bytes = "<p>and so on</p>\n", **more: Any) -> Answer:
    """A page without an end, as fast as it goes."""
    return Answer(body=Fill(size=None, pattern=pattern), **more)


def bomb(size: int, *codings: str, pattern: str | bytes = b"\0", **more: Any) -> Answer:
    """`size` bytes of one pattern, compressed on the way; several codings nest."""
    return Answer(body=Packed(body=Fill(size=size, pattern=pattern), codings=codings or ("gzip",)), **more)
