"""DOCX to HTML: a zip archive of XML files, read with limits on size, depth and text; nothing is executed or fetched.

Only four files of the archive are read, each as a stream, so a zip bomb costs no more than the largest document.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from thresher.parsing.documents.document import (
    MAX_CHARACTERS,
    MIN_CHARACTERS,
    DocumentHtml,
    DocumentLimits,
    Segment,
    UnreadableDocument,
)
from thresher.parsing.xml_events import PIECE_BYTES, XmlFlaw, read_xml

MAX_XML_BYTES = 64 << 20
"""Of one file of the archive, after decompression."""
MAX_DEPTH = 200
MAX_FILES = 10_000

_BODY, _STYLES, _LINKS, _PROPERTIES = (
    "word/document.xml",
    "word/styles.xml",
    "word/_rels/document.xml.rels",
    "docProps/core.xml",
)
_META = {"creator": "author", "subject": "description", "keywords": "keywords", "modified": "date"}
_BLANKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HIDDEN = frozenset({"instrText", "delText", "drawing", "pict", "object", "Fallback"})


def read_docx(body: bytes, limits: DocumentLimits | None = None) -> DocumentHtml:
    """Read a DOCX document; its limits are those of this module.

    Raises:
        UnreadableDocument: It is encrypted or damaged, or has no text.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            if len(archive.namelist()) > MAX_FILES or _BODY not in archive.namelist():
                raise UnreadableDocument("damaged")
            return _read(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise UnreadableDocument("damaged") from error
    except RuntimeError as error:  # of zipfile: a file needs a password
        raise UnreadableDocument("encrypted") from error


def _read(archive: zipfile.ZipFile) -> DocumentHtml:
    properties = _Properties()
    _parse(archive, _PROPERTIES, properties.start, properties.end, properties.text)
    html = DocumentHtml(title=properties.values.pop("title", ""), meta=properties.values)
    body = _Body(html, _styles(archive), _links(archive))
    try:
        flaw = _parse(archive, _BODY, body.start, body.end, body.text)
    except _Full:
        flaw = "longer than the limit"
    html.is_cut = bool(flaw)
    if html.characters < MIN_CHARACTERS:
        raise UnreadableDocument("damaged" if flaw else "no text (scanned)")
    return html


def _parse(
    archive: zipfile.ZipFile,
    name: str,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None] = lambda _: None,
    text: Callable[[str], None] = lambda _: None,
) -> str:
    """Parse a file of the archive, if it is there; return why it was not read to its end."""
    if name not in archive.namelist():
        return ""
    try:
        read_xml(_pieces(archive, name), start=start, end=end, text=text, max_depth=MAX_DEPTH)
    except XmlFlaw as flaw:
        return str(flaw)
    return ""


def _pieces(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    total = 0
    with archive.open(name) as file:
        while piece := file.read(PIECE_BYTES):
            total += len(piece)
            if total > MAX_XML_BYTES:
                raise XmlFlaw(f"larger than {MAX_XML_BYTES >> 20} MiB")
            yield piece


def _links(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the URLs of external links by their id."""
    urls: dict[str, str] = {}

    def start(name: str, attributes: dict[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") == "External" and len(urls) < MAX_FILES:
            urls[attributes.get("Id", "")] = attributes.get("Target", "")[:4_096]

    _parse(archive, _LINKS, start)
    return urls


def _styles(archive: zipfile.ZipFile) -> dict[str, int]:
    """Return the levels of heading styles by their id; the title is of level 1."""
    levels: dict[str, int] = {}
    current = ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal current
        if name == "style":
            current = attributes.get("styleId", "")
        elif name == "name" and current and len(levels) < MAX_FILES:
            levels[current] = _level(attributes.get("val", ""))

    _parse(archive, _STYLES, start)
    return levels


def _level(style: str) -> int:
    word, _, number = style.lower().replace("heading", "heading ").partition(" ")
    if word == "title":
        return 1
    return int(number) if word == "heading" and number.strip().isdigit() and len(number) < 3 else 0


class _Full(Exception):
    """The document has more text than is read."""


@dataclass
class _Properties:
    """Title and other fields of the document."""

    values: dict[str, str] = field(default_factory=dict)
    _current: str = ""

    def start(self, name: str, _: dict[str, str]) -> None:
        self._current = name

    def end(self, _: str) -> None:
        self._current = ""

    def text(self, text: str) -> None:
        name = "title" if self._current == "title" else _META.get(self._current)
        if name:
            self.values[name] = (self.values.get(name, "") + text)[: 10 if name == "date" else 2_000]


@dataclass
class _Body:
    """The text of the document: paragraphs, the cells of tables, links."""

    html: DocumentHtml
    styles: dict[str, int]
    urls: dict[str, str]
    _segments: list[Segment] = field(default_factory=list)
    _style: str = ""
    _is_item: bool = False
    _url: str = ""
    _hidden: int = 0
    _is_text: bool = False
    _tables: int = 0
    _row: list[list[Segment]] = field(default_factory=list)
    _characters: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _HIDDEN or self._hidden:
            self._hidden += 1
        elif name == "t":
            self._is_text = True
        elif name in _BLANKS:
            self._segments.append((_BLANKS[name], self._url))
        elif name == "pStyle":
            self._style = attributes.get("val", "")
        elif name == "numPr":
            self._is_item = True
        elif name == "hyperlink":
            self._url = self.urls.get(attributes.get("id", ""), "")
        elif name == "tbl":
            self._tables += 1
        elif name == "tr":
            self._row = []
        elif name == "tc":
            self._row.append([])

    def text(self, text: str) -> None:
        if self._is_text and not self._hidden:
            self._segments.append((text, self._url))
            self._characters += len(text)
            if self._characters > MAX_CHARACTERS:
                self._end_paragraph()
                raise _Full

    def end(self, name: str) -> None:
        if self._hidden:
            self._hidden -= 1
        elif name == "t":
            self._is_text = False
        elif name == "hyperlink":
            self._url = ""
        elif name == "p":
            self._end_paragraph()
        elif name == "tr" and self._tables == 1:
            self.html.add_row(self._row)
        elif name == "tbl":
            self._tables -= 1

    def _end_paragraph(self) -> None:
        segments, level = self._segments, self.styles.get(self._style) or _level(self._style)
        if self._tables and self._row:
            self._row[-1] += [(" ", ""), *segments] if self._row[-1] else segments
        elif level:
            self.html.add_heading(level, segments)
        elif self._is_item:
            self.html.add_item(segments)
        else:
            self.html.add_paragraph(segments)
        self._segments, self._style, self._is_item = [], "", False
