"""The HTML that stands for a document: title, headings, paragraphs, lists, tables and links, nothing else.

A document is judged, searched, stored and exported through this HTML, as any page is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from thresher.text.tokens import CJK

MAX_CHARACTERS = 1 << 20
"""Text beyond this is cut off, as that of HTML pages is."""
MAX_LINKS = 1_000
MAX_TITLE_CHARACTERS = 300

MIN_CHARACTERS = 10
"""A document with less text is taken for a scan."""

Segment = tuple[str, str]
"""A piece of text, and the URL that it links to; empty without one."""

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]").sub
_WIDE = rf"[{CJK}\u3000-\u303f\uff00-\uffef\u2018-\u201d\u2026\u2014]"
_BOTH_WIDE = re.compile(rf"{_WIDE}\n{_WIDE}").fullmatch
_HYPHENS = "-\u00ad\u2010"


class UnreadableDocument(Exception):
    """A document that cannot be read; the message is the reason for users."""


@dataclass(frozen=True, kw_only=True)
class DocumentLimits:
    """How much of a document is read.

    Args:
        max_pages: Pages of a PDF.
        seconds: CPU time; when half of it is used, the remaining pages are left out.
    """

    max_pages: int = 500
    seconds: float = 10.0


@dataclass
class DocumentHtml:
    """A document as HTML, written part by part.

    Args:
        title: Its title; when empty, that of the first heading, or the first line.
        meta: Fields of its head, such as author and date, by name.
        is_cut: Whether a limit was reached before its end.
    """

    title: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    is_cut: bool = False
    characters: int = 0
    _parts: list[str] = field(default_factory=list)
    _first: str = ""
    _open: str = ""
    _links: int = 0

    def add_heading(self, level: int, segments: Iterable[Segment]) -> None:
        self._add(f"h{min(6, max(1, level))}", segments)

    def add_paragraph(self, segments: Iterable[Segment]) -> None:
        self._add("p", segments)

    def add_item(self, segments: Iterable[Segment]) -> None:
        """Add the item of a list; items in succession are one list."""
        self._add("li", segments, inside="ul")

    def add_preformatted(self, text: str) -> None:
        self._add("pre", [(text, "")])

    def add_row(self, cells: Iterable[Iterable[Segment]]) -> None:
        """Add the row of a table; rows in succession are one table."""
        self._append(f"<tr>{''.join(f'<td>{self._inner(cell)}</td>' for cell in cells)}</tr>", inside="table")

    @property
    def is_full(self) -> bool:
        """Whether no more text is accepted."""
        return self.characters >= MAX_CHARACTERS

    def _add(self, tag: str, segments: Iterable[Segment], *, inside: str = "") -> None:
        segments = [segment for segment in segments if segment[0] or segment[1]]
        inner = self._inner(segments)
        if inner.strip():
            self._first = self._first or " ".join("".join(text for text, _ in segments).split())
            self._append(f"<{tag}>{inner}</{tag}>", inside=inside)

    def _append(self, part: str, *, inside: str = "") -> None:
        if inside != self._open:
            self._parts += [f"</{self._open}>"] if self._open else []
            self._parts += [f"<{inside}>"] if inside else []
            self._open = inside
        self._parts.append(part)

    def _inner(self, segments: Iterable[Segment]) -> str:
        return "".join(self._segment(text, url) for text, url in segments)

    def _segment(self, text: str, url: str) -> str:
        text = text[: max(0, MAX_CHARACTERS - self.characters)]
        self.characters += len(text)
        written = escape(_UNWANTED("", text), quote=False)
        if not url or self._links >= MAX_LINKS:
            return written
        self._links += 1
        return f'<a href="{escape(_UNWANTED("", url))}">{written}</a>'

    def __str__(self) -> str:
        title = " ".join((self.title or self._first).split())[:MAX_TITLE_CHARACTERS]
        fields = "".join(
            f'<meta name="{name}" content="{escape(_UNWANTED("", value))}">' for name, value in self.meta.items()
        )
        head = f'<meta charset="utf-8"><title>{escape(_UNWANTED("", title), quote=False)}</title>{fields}'
        body = "\n".join([*self._parts, f"</{self._open}>"] if self._open else self._parts)
        return f"<!doctype html>\n<html><head>{head}</head><body><article>\n{body}\n</article></body></html>\n"


def join_lines(lines: Iterable[Sequence[Segment]]) -> list[Segment]:
    """Join the lines of a paragraph: without a blank between Chinese characters and after a hyphenated word."""
    joined: list[Segment] = []
    for line in lines:
        if not joined:
            joined = [*line]
            continue
        last, url = joined[-1]
        first = next((text for text, _ in line if text), "")
        if last[-1:] in _HYPHENS and last[-2:-1].isalpha() and first[:1].islower():
            joined[-1] = last[:-1], url
        elif not _BOTH_WIDE(f"{last[-1:]}\n{first[:1]}"):
            joined.append((" ", url if line and line[0][1] == url else ""))
        joined += line
    return joined
