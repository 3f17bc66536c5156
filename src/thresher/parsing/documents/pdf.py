"""PDF to HTML with PDFium: text in lines and paragraphs, headings from the outline or the font size, links.

PDFium is native code that reads hostile files, so this runs in the child process of `conversion`. Nothing is rendered,
and the build of pypdfium2 has neither a JavaScript engine nor XFA: scripts, launch actions and images are not touched.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from statistics import median

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from thresher.parsing.documents.document import (
    MAX_CHARACTERS,
    MAX_LINKS,
    MIN_CHARACTERS,
    DocumentHtml,
    DocumentLimits,
    Segment,
    UnreadableDocument,
    join_lines,
)

MAX_OUTLINE_ENTRIES, MAX_OUTLINE_DEPTH = 2_000, 6
MAX_PAGE_OBJECTS = 100_000
"""Of one page; what follows it is not read."""
MAX_PAGE_CHARACTERS = 200_000
MAX_URL_CHARACTERS = 4_096
_HEADING_RATIO = 1.15
_SAME_SIZE_RATIO = 1.1  # the boxes of characters of one font differ by some percent, Chinese ones above all
_MAX_HEADING_CHARACTERS = 200
_PARAGRAPH_PITCH = 1.35
_HEADING_PITCH = 1.5  # lines of one heading are closer than this, times the value above
_MIN_REPEATED_PAGES = 4
_SENTENCE_ENDS = tuple(".!?:;。！？：；…”\"'’)）")
_LEADING_NUMBER = re.compile(r"^(?:第?[\d.]+[章节]?|[ivx]+\.)\s*(?=\D)", re.IGNORECASE).sub
_NO_TITLE = re.compile(
    r"(?:untitled|title|print|microsoft (?:word|powerpoint) - .*|\S*\.(?:docx?|tex|indd|dvi|pdf|pptx?|xlsx?|html?))?",
    re.IGNORECASE | re.DOTALL,
).fullmatch
_SOFT_HYPHEN = "\u00ad"
_DIVIDED = re.compile(rf"(?<!\w)(\w++){_SOFT_HYPHEN}(\w++)").sub
_HYPHENATED = re.compile(r"(?<!\w)\w++-\w++").findall
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)(\d\d)").match
_META = {"Author": "author", "Subject": "description", "Keywords": "keywords"}


@dataclass
class _Line:
    """A line of a page.

    Args:
        size: The height of its characters.
        top: The distance of its upper edge from the lower edge of the page.
        page: The number of the page.
    """

    segments: list[Segment]
    text: str
    size: float
    top: float
    page: int


@dataclass
class _Outline:
    """The entries of the outline by page, as level and title; each is used up when its line is found."""

    entries: dict[int, list[tuple[int, str]]] = field(default_factory=dict)

    def level(self, line: _Line) -> int:
        """Return the level of the heading that a line is; 0 when it is none."""
        here = self.entries.get(line.page, [])
        for place, (level, title) in enumerate(here):
            if _plain(title) == _plain(line.text):
                del here[place]
                return level
        return 0


def read_pdf(body: bytes, limits: DocumentLimits) -> DocumentHtml:
    """Read a PDF.

    Raises:
        UnreadableDocument: It is encrypted or damaged, or has no text.
    """
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        is_locked = error.err_code in (pdfium_c.FPDF_ERR_PASSWORD, pdfium_c.FPDF_ERR_SECURITY)
        raise UnreadableDocument("encrypted" if is_locked else "damaged") from error
    try:
        return _PdfReader(document, limits).read()
    finally:
        document.close()


class _PdfReader:
    """Reads one document."""

    def __init__(self, document: pdfium.PdfDocument, limits: DocumentLimits) -> None:
        self._document = document
        self._limits = limits
        self._began = time.process_time()
        self._links = 0

    def read(self) -> DocumentHtml:
        html = DocumentHtml(title=self._title(), meta=self._meta())
        outline = self._outline()
        lines, broken = self._lines(html)
        if sum(len(line.text) for line in lines) < MIN_CHARACTERS:
            raise UnreadableDocument("damaged" if broken and not lines else "no text (scanned)")
        lines = _without_repeated(lines) or lines
        _join_words(lines)
        _write(html, lines, outline)
        return html

    def _lines(self, html: DocumentHtml) -> tuple[list[_Line], int]:
        """Return the lines of all pages within the limits, and the number of pages that cannot be read."""
        lines: list[_Line] = []
        broken, characters, pages = 0, 0, len(self._document)
        for number in range(pages):
            is_late = time.process_time() - self._began > self._limits.seconds / 2
            if number >= self._limits.max_pages or is_late or characters > MAX_CHARACTERS:
                html.is_cut = True
                break
            try:
                found = self._page(number)
            except pdfium.PdfiumError:
                broken += 1
                continue
            characters += sum(len(line.text) for line in found)
            lines += found
        return lines, broken

    def _page(self, number: int) -> list[_Line]:
        page = self._document.get_page(number)
        try:
            if pdfium_c.FPDFPage_CountObjects(page) > MAX_PAGE_OBJECTS:
                return []
            text_page = page.get_textpage()
            try:
                return list(self._page_lines(page, text_page, number))
            finally:
                text_page.close()
        finally:
            page.close()

    def _page_lines(self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, number: int) -> Iterator[_Line]:
        text = _characters(text_page)
        links = sorted({*self._annotations(page, text_page), *self._web_links(text_page)})
        start = 0
        for piece in text.split("\n"):
            visible = len(piece) - len(piece.lstrip())
            if piece.strip():
                size, top = _box(text_page, start + visible)
                segments = list(_segments(piece.rstrip(), start, links))
                yield _Line(segments, " ".join(piece.split()), size, top, number)
            start += len(piece) + 1
        if unplaced := [url for first, _, url in links if first < 0]:
            yield _Line([("", url) for url in unplaced], "", 0.0, 0.0, number)

    def _annotations(self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage) -> Iterator[tuple[int, int, str]]:
        """Yield the links of a page as ranges of its characters; -1 for a link over no text."""
        position, link = ctypes.c_int(0), pdfium_c.FPDF_LINK()
        while self._links < MAX_LINKS and pdfium_c.FPDFLink_Enumerate(page, position, link):
            self._links += 1
            if url := self._url(link):
                for rectangle in _rectangles(link):
                    yield (*_range(text_page, rectangle), url)

    def _url(self, link: object) -> str:
        action = pdfium_c.FPDFLink_GetAction(link)
        if not action or pdfium_c.FPDFAction_GetType(action) != pdfium_c.PDFACTION_URI:
            return ""
        size = pdfium_c.FPDFAction_GetURIPath(self._document, action, None, 0)
        if not 1 < size <= MAX_URL_CHARACTERS:
            return ""
        buffer = ctypes.create_string_buffer(size)
        pdfium_c.FPDFAction_GetURIPath(self._document, action, buffer, size)
        return buffer.value.decode("utf-8", "replace").strip()

    def _web_links(self, text_page: pdfium.PdfTextPage) -> Iterator[tuple[int, int, str]]:
        """Yield the URLs that are written out in the text of a page."""
        found = pdfium_c.FPDFLink_LoadWebLinks(text_page)
        try:
            for index in range(min(pdfium_c.FPDFLink_CountWebLinks(found), MAX_LINKS)):
                size = pdfium_c.FPDFLink_GetURL(found, index, None, 0)
                first, count = ctypes.c_int(), ctypes.c_int()
                if size <= MAX_URL_CHARACTERS and pdfium_c.FPDFLink_GetTextRange(found, index, first, count):
                    buffer = (ctypes.c_ushort * size)()
                    pdfium_c.FPDFLink_GetURL(found, index, buffer, size)
                    url = bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
                    if url.startswith(("http://", "https://")):
                        yield first.value, first.value + count.value, url
        finally:
            pdfium_c.FPDFLink_CloseWebLinks(found)

    def _title(self) -> str:
        title = " ".join(self._document.get_metadata_value("Title").split())
        return "" if _NO_TITLE(title) else title

    def _meta(self) -> dict[str, str]:
        meta = {name: self._document.get_metadata_value(key).strip() for key, name in _META.items()}
        if date := _DATE(self._document.get_metadata_value("CreationDate")):
            meta["date"] = "-".join(date.groups())
        return {name: value[:2_000] for name, value in meta.items() if value}

    def _outline(self) -> _Outline:
        outline = _Outline()
        for entry in islice(self._document.get_toc(max_depth=MAX_OUTLINE_DEPTH), MAX_OUTLINE_ENTRIES):
            try:
                title, destination = " ".join(entry.get_title().split()), entry.get_dest()
            except (ValueError, pdfium.PdfiumError):
                continue
            page = destination.get_index() if destination else None
            if title and page is not None:
                here = outline.entries.setdefault(page, [])
                here.append((entry.level + 1, title[:_MAX_HEADING_CHARACTERS]))
        return outline


def _characters(text_page: pdfium.PdfTextPage) -> str:
    """Return one character for each character of PDFium, so that its indexes are ours; lines end in a newline."""
    count = min(pdfium_c.FPDFText_CountChars(text_page), MAX_PAGE_CHARACTERS)
    text = text_page.get_text_range(0, count) if count > 0 else ""
    if len(text) != count:  # characters outside of the basic plane, or without a meaning
        codes = (pdfium_c.FPDFText_GetUnicode(text_page, index) for index in range(count))
        text = "".join(chr(code) if 0 < code <= 0x10FFFF else " " for code in codes)
    return text.replace("\r", " ").replace("\x02", _SOFT_HYPHEN).replace("\ufffe", _SOFT_HYPHEN)


def _box(text_page: pdfium.PdfTextPage, index: int) -> tuple[float, float]:
    """Return the height and the upper edge of a character."""
    box = pdfium_c.FS_RECTF()
    if not pdfium_c.FPDFText_GetLooseCharBox(text_page, index, box):
        return 0.0, 0.0
    return box.top - box.bottom, box.top


def _rectangles(link: object) -> Iterator[tuple[float, float, float, float]]:
    """Yield left, bottom, right and top of the areas of a link: one for each of its lines, or one for all."""
    quad, rectangle = pdfium_c.FS_QUADPOINTSF(), pdfium_c.FS_RECTF()
    count = min(pdfium_c.FPDFLink_CountQuadPoints(link), 20)
    for index in range(count):
        if pdfium_c.FPDFLink_GetQuadPoints(link, index, quad):
            xs, ys = (quad.x1, quad.x2, quad.x3, quad.x4), (quad.y1, quad.y2, quad.y3, quad.y4)
            yield min(xs), min(ys), max(xs), max(ys)
    if not count and pdfium_c.FPDFLink_GetAnnotRect(link, rectangle):
        yield rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _range(text_page: pdfium.PdfTextPage, rectangle: tuple[float, float, float, float]) -> tuple[int, int]:
    """Return the range of the characters in an area; -1 for both ends when there are none."""
    left, bottom, right, top = rectangle
    middle, reach = (bottom + top) / 2, (top - bottom) / 2
    inset = min(1.0, (right - left) / 4)
    first = pdfium_c.FPDFText_GetCharIndexAtPos(text_page, left + inset, middle, 3.0, reach)
    last = pdfium_c.FPDFText_GetCharIndexAtPos(text_page, right - inset, middle, 3.0, reach)
    return (first, last + 1) if 0 <= first <= last else (-1, -1)


def _segments(text: str, start: int, links: Sequence[tuple[int, int, str]]) -> Iterator[Segment]:
    """Cut a line at the ends of its links; of links over the same characters the first counts."""
    place = start
    for first, end, url in links:
        first, end = max(first, place), min(end, start + len(text))
        if 0 <= first < end:
            if first > place:
                yield text[place - start : first - start], ""
            yield text[first - start : end - start], url
            place = end
    if place < start + len(text):
        yield text[place - start :], ""


def _without_repeated(lines: list[_Line]) -> list[_Line]:
    """Leave out headers and footers: first or last lines that are the same, up to digits, on half of the pages."""
    edges: dict[int, tuple[_Line, _Line]] = {}
    for line in lines:
        if line.text:
            edges[line.page] = (edges.get(line.page, (line, line))[0], line)
    counts = Counter(text for pair in edges.values() for text in {_without_digits(line) for line in pair})
    most = max(_MIN_REPEATED_PAGES, len(edges) / 2)
    repeated = {text for text, count in counts.items() if count >= most}
    ends = {id(line) for pair in edges.values() for line in pair if _without_digits(line) in repeated}
    return [line for line in lines if id(line) not in ends]


def _without_digits(line: _Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _join_words(lines: Sequence[_Line]) -> None:
    """Remove the hyphens at which words were divided, unless the document has the word with a hyphen elsewhere."""
    divided = [line for line in lines if _SOFT_HYPHEN in line.text]
    known = set(_HYPHENATED(" ".join(line.text for line in lines).lower())) if divided else set()

    def join(match: re.Match[str]) -> str:
        with_hyphen = f"{match[1]}-{match[2]}"
        return with_hyphen if with_hyphen.lower() in known or not match[2][:1].islower() else match[1] + match[2]

    for line in divided:
        line.segments = [
            (_DIVIDED(join, text).replace(_SOFT_HYPHEN, "-") if _SOFT_HYPHEN in text else text, url)
            for text, url in line.segments
        ]
        line.text = _DIVIDED(join, line.text).replace(_SOFT_HYPHEN, "-")


def _plain(text: str) -> str:
    """Return a text as headings are compared: without numbering, blanks and case."""
    return "".join(_LEADING_NUMBER("", text.strip()).split()).casefold()


def _write(html: DocumentHtml, lines: Sequence[_Line], outline: _Outline) -> None:
    """Write lines as headings and paragraphs; an entry of the outline that is no line stands before its page."""
    levels = _outline_levels(lines, outline) if outline.entries else _size_levels(lines)
    pitch = _usual_pitch(lines)
    group: list[_Line] = []
    group_level, page = 0, -1
    for line, level in zip(lines, levels, strict=True):
        if group and (level != group_level or _is_break(group[-1], line, _HEADING_PITCH if level else pitch)):
            _write_group(html, group, group_level)
            group = []
        for new in range(page + 1, line.page + 1):
            _write_rest(html, outline, new)
        page, group_level = max(page, line.page), level
        group.append(line)
        if html.is_full:
            html.is_cut = True
            return
    _write_group(html, group, group_level)


def _write_group(html: DocumentHtml, group: Sequence[_Line], level: int) -> None:
    segments = join_lines([line.segments for line in group])
    if level:
        html.add_heading(level, segments)
    else:
        html.add_paragraph(segments)


def _write_rest(html: DocumentHtml, outline: _Outline, page: int) -> None:
    for level, title in outline.entries.get(page, []):
        html.add_heading(level, [(title, "")])


def _outline_levels(lines: Sequence[_Line], outline: _Outline) -> list[int]:
    return [outline.level(line) for line in lines]


def _size_levels(lines: Sequence[_Line]) -> list[int]:
    """Return the level of each line by its size: headings are larger than most of the text."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    places, place, largest = dict[float, int](), 0, 0.0
    for size in sorted((size for size in sizes if size > usual * _HEADING_RATIO), reverse=True):
        if size * _SAME_SIZE_RATIO < largest or not place:
            place, largest = place + 1, size
        places[size] = min(place, 3)
    return [places.get(round(line.size, 1), 0) if len(line.text) <= _MAX_HEADING_CHARACTERS else 0 for line in lines]


def _usual_pitch(lines: Sequence[_Line]) -> float:
    """Return the usual distance of two lines, as a multiple of their height."""
    pitches = [
        (first.top - second.top) / first.size
        for first, second in pairwise(lines)
        if first.page == second.page and first.top > second.top and first.size > 0
    ]
    return median(pitches) if pitches else 1.2


def _is_break(before: _Line, line: _Line, pitch: float) -> bool:
    """Return whether a paragraph ends between two lines: by the distance, or by a sentence at the end of a column."""
    if before.page != line.page or line.top >= before.top:
        return before.text.endswith(_SENTENCE_ENDS)
    return before.size > 0 and (before.top - line.top) / before.size > pitch * _PARAGRAPH_PITCH
