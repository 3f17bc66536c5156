"""Plain text and Markdown to HTML, so that their paragraphs, headings and links are known as those of a page.

A rough reading of Markdown (text/markdown, RFC 7763): headings, lists, code, paragraphs, and links: inline, by
reference, automatic, and those of HTML within it, whose other tags are left out. The title is that of the front matter,
or else the first heading. Every rule works line by line in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

from thresher.parsing.documents.document import MAX_CHARACTERS, DocumentHtml, Segment, join_lines
from thresher.parsing.markup import decode, limit_markup

_MARKDOWN_TYPES = ("text/markdown", "text/x-markdown")
_MARKDOWN_NAMES = (".md", ".markdown", ".mkd")
_TEXT_TYPES = ("text/plain", *_MARKDOWN_TYPES)
_MAX_TITLE_CHARACTERS = 150

_URL = r"https?://[^\s<>\"'，。；）】」]{1,2000}"
_WEB_LINK = re.compile(_URL).finditer
_IMAGE = r"!\[([^\[\]\n]{0,200})\]\([^\s()]{0,2000}\)"
_IMAGES = re.compile(_IMAGE).sub
_TARGET = r"<?(?P<target>[^\s()<>]{1,2000})>?(?:\s[^()\n]{0,500})?"
_INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|`(?P<code>[^`\n]{1,500})`"
    rf"|!?\[(?P<text>(?:[^\[\]!\n]|{_IMAGE}|!(?!\[)){{0,500}}+)\](?:\({_TARGET}\)|\[(?P<label>[^\[\]\n]{{0,200}})\])?"
    rf"|<?(?P<url>{_URL})>?"
    r"|<(?P<tag>/?[a-zA-Z][a-zA-Z0-9-]*+(?=[\s/>])[^<>]{0,2000}+)>|<!--(?:[^<>-]|-(?!->)){0,2000}+-->"
).finditer
_DEFINITION = re.compile(
    r"\[(?!\^)([^\[\]\n]{1,200})\]:\s*+<?([^\s<>]{1,2000})>?(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?"
).fullmatch
_HREF = re.compile(r"a\s.*?\bhref\s*+=\s*+[\"']?([^\s\"'<>]{1,2000})", re.IGNORECASE | re.DOTALL).match
_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s+(.*)").fullmatch
_TABLE_RULE = frozenset("|:- \t")
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
    lines = _without_front_matter(html, lines)
    writer = _MarkdownWriter(html, _references(lines))
    for is_code, line in _with_fences(lines):
        if is_code:
            writer.code.append(line)
        else:
            writer.end_code()
            writer.add(line.strip())
    writer.end_paragraph()
    writer.end_code()


def _with_fences(lines: list[str]) -> Iterator[tuple[bool, str]]:
    """Yield each line with whether it is code; a fence is an empty line, so that it ends what stands before it."""
    is_code = False
    for line in lines:
        if line.strip().startswith(("```", "~~~")):
            is_code = not is_code
            yield False, ""
        else:
            yield is_code, line


def _references(lines: list[str]) -> dict[str, str]:
    """Return the targets that are defined apart from their links, by label; the first of a label counts."""
    found = (_DEFINITION(line.strip()) for is_code, line in _with_fences(lines) if not is_code)
    defined = [(_label(each[1]), each[2]) for each in found if each]
    return dict(reversed(defined))


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass
class _MarkdownWriter:
    """Writes lines; those of a paragraph, and those of code, are collected until it ends."""

    html: DocumentHtml
    references: Mapping[str, str]
    paragraph: list[list[Segment]] = field(default_factory=list)
    code: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        if (rule := _RULE(line)) or set(line) <= _TABLE_RULE:
            if rule and len(self.paragraph) == 1 and line[0] in "=-":
                self.add_heading(1 if line[0] == "=" else 2, self.paragraph.pop())
            self.end_paragraph()
        elif level := _heading_level(line):
            self.end_paragraph()
            self.add_heading(level, self._segments(line.strip("# \t")))
        elif item := _ITEM(line):
            self.end_paragraph()
            self.html.add_item(self._segments(item[1]))
        elif not _DEFINITION(line):
            self.paragraph.append(self._segments(line.lstrip(">| ").rstrip("| ")))

    def add_heading(self, level: int, segments: list[Segment]) -> None:
        self.html.title = self.html.title or "".join(text for text, _ in segments)[:_MAX_TITLE_CHARACTERS]
        self.html.add_heading(level, segments)

    def end_paragraph(self) -> None:
        self.html.add_paragraph(join_lines(self.paragraph))
        self.paragraph = []

    def end_code(self) -> None:
        if self.code:
            self.html.add_preformatted("\n".join(self.code))
            self.code = []

    def _segments(self, text: str) -> list[Segment]:
        pieces = groupby(_with_markdown_links(text, self.references), key=itemgetter(1))
        joined = (("".join(words for words, _ in group), url) for url, group in pieces)
        return [segment for segment in joined if any(segment)]


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


def _with_markdown_links(text: str, references: Mapping[str, str]) -> Iterator[Segment]:
    """Yield the text of a line in pieces; what stands in an `a` element of HTML links to its target."""
    place, around = 0, ""
    for match in _INLINE(text):
        yield _EMPHASIS("", text[place : match.start()]), around
        place = match.end()
        if match["url"]:
            url = match["url"].rstrip(".,;:!?)]}")
            yield url, url
            place = match.start("url") + len(url) + (match[0].endswith(">"))
        elif match["text"] is not None:
            yield _link_of(match, references, around)
        elif tag := match["tag"]:
            found = _HREF(tag)
            around = found[1] if found else "" if tag.strip().lower() == "/a" else around
        else:
            yield match["escaped"] or match["code"] or "", around
    yield _EMPHASIS("", text[place:]), around


def _link_of(match: re.Match[str], references: Mapping[str, str], around: str) -> Segment:
    """Return a link or a picture; words in brackets that are neither stay as they are."""
    words = _EMPHASIS("", _IMAGES(r"\1", match["text"]))
    target = match["target"] or references.get(_label(match["label"] or match["text"]))
    if target is None:
        return match[0], around
    return words, around if match[0].startswith("!") else target
