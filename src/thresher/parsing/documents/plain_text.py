"""Plain text and Markdown to HTML, so that their paragraphs, headings and links are known as those of a page.

A rough reading of Markdown: headings, lists, code, links and paragraphs. Every rule works line by line in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from thresher.parsing.documents.document import MAX_CHARACTERS, DocumentHtml, Segment, join_lines
from thresher.parsing.markup import decode, limit_markup

_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")
_MARKDOWN_NAMES = (".md", ".markdown", ".mkd")
_TEXT_TYPES = ("text/plain", *_MARKDOWN_TYPES)
_MAX_TITLE_CHARACTERS = 150

_URL = r"https?://[^\s<>\"'，。；）】」]{1,2000}"
_WEB_LINK = re.compile(_URL).finditer
_MARKDOWN_LINK = re.compile(
    rf"!?\[(?P<text>[^\[\]\n]{{0,500}})\]\((?P<target>[^\s()<>]{{1,2000}})(?:\s[^()\n]{{0,500}})?\)|<?(?P<url>{_URL})>?"
).finditer
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)").fullmatch
_RULE = re.compile(r"(?:=+|-{2,}|\*{3,}|_{3,})").fullmatch
_EMPHASIS = re.compile(r"(\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w))").sub


def is_text(content_type: str) -> bool:
    """Return whether a Content-Type header announces plain text or Markdown."""
    return content_type.partition(";")[0].strip().lower() in _TEXT_TYPES


@lru_cache(maxsize=1)
def text_markup(url: str, body: bytes, content_type: str) -> str:
    """Return the HTML of a text file; cached for one page, since it is also stored.

    Args:
        url: Its URL; by its ending, Markdown is recognised that a server sends as plain text.
        body: Its bytes after content decoding.
        content_type: The Content-Type header.
    """
    lines = decode(body, content_type)[:MAX_CHARACTERS].splitlines()
    name = url.partition("?")[0].lower()
    is_markdown = content_type.lower().startswith(_MARKDOWN_TYPES) or name.endswith(_MARKDOWN_NAMES)
    html = DocumentHtml()
    if is_markdown:
        _write_markdown(html, lines)
    else:
        _write_text(html, lines)
    return limit_markup(str(html))


def _write_text(html: DocumentHtml, lines: list[str]) -> None:
    html.title = next((line for line in lines if line.strip()), "")[:_MAX_TITLE_CHARACTERS]
    for paragraph in _paragraphs(lines):
        html.add_paragraph(join_lines([list(_with_web_links(line.strip())) for line in paragraph]))


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _with_web_links(text: str) -> Iterator[Segment]:
    place = 0
    for match in _WEB_LINK(text):
        url = match[0].rstrip(".,;:!?)]}")
        yield text[place : match.start()], ""
        yield url, url
        place = match.start() + len(url)
    yield text[place:], ""


def _write_markdown(html: DocumentHtml, lines: list[str]) -> None:
    writer = _MarkdownWriter(html)
    code: list[str] | None = None
    for line in _without_front_matter(html, lines):
        if line.strip().startswith(("```", "~~~")):
            writer.end_paragraph()
            html.add_preformatted("\n".join(code or []))
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        else:
            writer.add(line.strip())
    writer.end_paragraph()
    html.add_preformatted("\n".join(code or []))


@dataclass
class _MarkdownWriter:
    """Writes lines outside of code; those of a paragraph are collected until it ends."""

    html: DocumentHtml
    paragraph: list[list[Segment]] = field(default_factory=list)

    def add(self, line: str) -> None:
        if not line or _RULE(line):
            if len(self.paragraph) == 1 and line[:1] in ("=", "-"):
                self.html.add_heading(1 if line[0] == "=" else 2, self.paragraph.pop())
            self.end_paragraph()
        elif level := _heading_level(line):
            self.end_paragraph()
            self.html.add_heading(level, _with_markdown_links(line.strip("# \t")))
        elif item := _ITEM(line):
            self.end_paragraph()
            self.html.add_item(_with_markdown_links(item[1]))
        else:
            self.paragraph.append(list(_with_markdown_links(line.lstrip(">| ").rstrip("| "))))

    def end_paragraph(self) -> None:
        self.html.add_paragraph(join_lines(self.paragraph))
        self.paragraph = []


def _heading_level(line: str) -> int:
    level = len(line) - len(line.lstrip("#"))
    return level if level <= 6 and line[level : level + 1].isspace() else 0


def _without_front_matter(html: DocumentHtml, lines: list[str]) -> list[str]:
    """Take the title out of front matter, if there is any, and return the lines after it."""
    if not lines or lines[0].strip() != "---" or "---" not in (later := [line.strip() for line in lines[1:100]]):
        return lines
    end = later.index("---")
    for line in later[:end]:
        key, _, value = line.partition(":")
        if key.strip().lower() == "title":
            html.title = value.strip().strip("\"'")[:_MAX_TITLE_CHARACTERS]
    return lines[end + 2 :]


def _with_markdown_links(text: str) -> Iterator[Segment]:
    place = 0
    for match in _MARKDOWN_LINK(text):
        yield _EMPHASIS("", text[place : match.start()]), ""
        place = match.end()
        if match["url"]:
            url = match["url"].rstrip(".,;:!?)]}")
            yield url, url
            place = match.start("url") + len(url) + (match[0].endswith(">"))
        elif match[0].startswith("!"):
            yield match["text"], ""
        else:
            yield _EMPHASIS("", match["text"]), match["target"]
    yield _EMPHASIS("", text[place:]), ""
