"""The content of a page as blocks: headings, paragraphs, list items, tables and code, as Markdown and as plain text.

Markdown is CommonMark with the tables of GitHub. Text is escaped where it would be read as markup, raw HTML included,
so that nothing in a page becomes an element of the document in which it is rendered. Links are absolute http or https
URLs; emphasis and images are left out. Time and size are linear in the size of the page: nesting beyond `MAX_NESTING`
is written flat, and short rows of a table are not filled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import partial

from thresher.parsing.dom import TEXT_TAG, tag_ids
from thresher.parsing.main_node import FlatTree
from thresher.urls.canonical import canonicalize

MAX_NESTING = 8
"""Lists and quotes inside each other; deeper ones are written at this depth."""
MAX_SPAN = 50
"""Columns or rows that one cell of a table may cover."""
MAX_FILLED = 10_000
"""Empty cells that are added to a table for cells that cover several."""
MAX_URL_CHARACTERS = 1 << 20
"""Characters of URLs in one page; relative ones become absolute, so they could be many times the page."""

_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*)([\w+#-]{1,20})")
_BREAK = "\0"
"""A line break in collected text; no parser lets this character through."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_CANDIDATE = re.compile(r"[\\`*_<&(:~\[]")
"""The characters that may be markup; `_SPECIAL` decides for each, by its neighbours."""
_SPECIAL = re.compile(
    r"[\\`*]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=#?\w{1,31};)|(?<=\])[(:]|~(?=~)|(?<=~)~|(?<=!)\["
)
_LINE_START = re.compile(r"(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|=+$|~~~|[|:-][|:\s-]*$)|(\d{1,9})(?=[.)](?:\s|$))")
_BACKTICKS = re.compile(r"`+")
_BRACKETS = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})


class ContentKind(Enum):
    """The kinds of blocks."""

    HEADING = auto()
    PARAGRAPH = auto()
    ITEM = auto()
    TABLE = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentBlock:
    """One block of the content.

    Args:
        text: As plain text; its lines are those of the page.
        markdown: As Markdown, with the markers of the lists and quotes around it.
        level: Of a heading, 1 to 6.
        is_tight: Whether it follows the block before without a blank line, as an item of the same list.
        linked: The share of its text that is anchors.
    """

    kind: ContentKind
    text: str
    markdown: str
    level: int = 0
    is_tight: bool = False
    linked: float = 0.0


def joined_markdown(blocks: Iterable[ContentBlock]) -> str:
    """Return blocks as one Markdown document."""
    return _joined((block.markdown, block.is_tight) for block in blocks)


def joined_text(blocks: Iterable[ContentBlock]) -> str:
    """Return blocks as plain text, with a blank line between paragraphs."""
    return _joined((block.text, block.is_tight) for block in blocks)


def _joined(parts: Iterable[tuple[str, bool]]) -> str:
    written: list[str] = []
    for text, is_tight in parts:
        if written:
            written.append("\n" if is_tight else "\n\n")
        written.append(text)
    return "".join(written)


def blocks_of_text(text: str) -> tuple[ContentBlock, ...]:
    """Return the lines of a plain text as paragraphs."""
    lines = (_folded(line) for line in text.splitlines())
    return tuple(
        ContentBlock(kind=ContentKind.PARAGRAPH, text=line, markdown=_escape_line(_escape(line)))
        for line in lines
        if line
    )


def heading_block(text: str, level: int) -> ContentBlock:
    """Return a heading."""
    return ContentBlock(kind=ContentKind.HEADING, text=text, markdown=f"{'#' * level} {_escape(text)}", level=level)


def _escape(text: str) -> str:
    """Escape what would be read as markup inside a line.

    Only candidates are matched: tried at every character, all branches of the full pattern take much longer.
    """
    return _CANDIDATE.sub(lambda found: f"\\{found[0]}" if _SPECIAL.match(text, found.start()) else found[0], text)


def _escape_line(line: str) -> str:
    """Escape what would begin a heading, quote, list or rule at the start of a line."""
    match = _LINE_START.match(line)
    return f"{match[1] or ''}\\{line[match.end() :]}" if match else line


def _code_span(text: str) -> str:
    """Return an inline code span; the fence is longer than any inside."""
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _folded(text: str) -> str:
    """Collapse white space inside each line, and leave out empty lines."""
    if _BREAK not in text:
        return " ".join(CONTROL.sub("", text).split())
    lines = (" ".join(CONTROL.sub("", line).split()) for line in text.split(_BREAK))
    return "\n".join(filter(None, lines))


def _link_target(url: str) -> str:
    """Return a URL without brackets that could end a link."""
    return url.translate(_BRACKETS) if url.count("(") != url.count(")") or "<" in url else url


@dataclass(slots=True)
class _Span:
    """A link or, without a URL, code inside a line, by the range of its pieces."""

    start: int
    url: str = ""
    end: int = -1


@dataclass(slots=True)
class _Line:
    """Text that is being collected, in pieces; `_BREAK` stands for a line break."""

    pieces: list[str] = field(default_factory=list)
    spans: list[_Span] = field(default_factory=list)

    def plain(self) -> str:
        return _folded("".join(self.pieces))

    def markdown(self) -> str:
        written, done = [""], 0
        for span in self.spans:
            if span.end < 0 or span.start < done:
                continue  # not closed in this line, or inside another one
            before = _escape("".join(self.pieces[done : span.start]))
            if span.url and before.endswith("!"):
                before = f"{before[:-1]}\\!"  # otherwise it would be an image
            written += [before, self._written(span)]
            done = span.end
        written.append(_escape("".join(self.pieces[done:])))
        return "\n".join(map(_escape_line, _folded("".join(written)).split("\n")))

    def _written(self, span: _Span) -> str:
        text = "".join(self.pieces[span.start : span.end])
        inner = _folded(text.replace(_BREAK, " "))
        if not inner:
            return text
        left, right = " " * text[0].isspace(), " " * text[-1].isspace()
        if not span.url:
            return f"{left}{_code_span(inner)}{right}"
        words = _escape(inner).replace("[", "\\[").replace("]", "\\]")
        return f"{left}[{words}]({_link_target(span.url)}){right}"

    def anchor_characters(self) -> int:
        return sum(len("".join(self.pieces[span.start : span.end]).strip()) for span in self.spans if span.url)


@dataclass(slots=True)
class _Container:
    """A list item or a quote; its marker is written once, before its first block."""

    marker: str
    indent: str
    is_item: bool = False
    is_begun: bool = False


@dataclass(slots=True)
class _TableRows:
    """The cells of a table, as plain text and as Markdown.

    Args:
        covered: For each column, how many of the following rows a cell above covers.
        filled: The number of empty cells that were added for covered ones; limited.
    """

    rows: list[list[tuple[str, str]]] = field(default_factory=list)
    covered: dict[int, int] = field(default_factory=dict)
    anchors: int = 0
    filled: int = 0

    def add(self, text: str, markdown: str, *, columns: int, rows: int) -> None:
        if not self.rows:
            self.begin_row()
        row = self.rows[-1]
        while self.covered.get(len(row), 0) > 0 and self.filled < MAX_FILLED:
            self.covered[len(row)] -= 1
            self.filled += 1
            row.append(("", ""))
        if rows > 1:
            self.covered.update(dict.fromkeys(range(len(row), len(row) + columns), rows - 1))
        self.filled += columns - 1
        row += [(text, markdown.replace("\n", " ").replace("|", "\\|")), *[("", "")] * (columns - 1)]

    def begin_row(self) -> None:
        if self.rows:
            last = len(self.rows[-1])
            self.covered = {column: left - (column >= last) for column, left in self.covered.items() if left > 0}
        self.rows.append([])

    def block(self) -> ContentBlock | None:
        """Return the table; None when it has no text."""
        rows = [row for row in self.rows if any(text for text, _ in row)]
        if not rows:
            return None
        width = max(map(len, rows))
        rows[0] = [*rows[0], *[("", "")] * (width - len(rows[0]))]
        lines = [f"| {' | '.join(markdown for _, markdown in row)} |" for row in rows]
        lines.insert(1, f"|{' --- |' * width}")
        text = "\n".join(" | ".join(text.replace("\n", " ") for text, _ in row) for row in rows)
        total = sum(len(text) for row in rows for text, _ in row)
        return ContentBlock(
            kind=ContentKind.TABLE, text=text, markdown="\n".join(lines), linked=min(1.0, self.anchors / max(1, total))
        )


def content_blocks(tree: FlatTree, main: int, base: str) -> list[ContentBlock]:
    """Return the blocks inside one element of a document.

    Args:
        tree: The document.
        main: The number of the element.
        base: The base of relative URLs.
    """
    return _BlockWriter(tree, base).write(main)


class _BlockWriter:
    """Goes over a document in its order; `_ENTER` has a method for each element that is more than a line of text.

    A method returns what is to be done at the end of the element.
    """

    def __init__(self, tree: FlatTree, base: str) -> None:
        self._tree, self._base = tree, base
        self._blocks: list[ContentBlock] = []
        self._line = _Line()
        self._containers: list[_Container] = []
        self._lists: list[int] = []  # the next number of each; 0 without numbers
        self._tables: list[_TableRows | None] = []  # None for one that arranges parts of the page
        self._code = 0  # depth of preformatted elements
        self._was_item = False
        self._url_characters = 0

    def write(self, main: int) -> list[ContentBlock]:
        tree, waiting = self._tree, list[tuple[int, Callable[[], None]]]()
        number, end = main, tree.ends[main]
        while number < end:
            while waiting and waiting[-1][0] <= number:
                waiting.pop()[1]()
            if tree.removed[number]:
                number = tree.ends[number]
                continue
            tag = tree.tags[number]
            if tag == TEXT_TAG:
                self._line.pieces.append(tree.texts[number])
            elif (enter := _ENTER.get(tag, _BlockWriter._enter_block)) and (leave := enter(self, number)):
                waiting.append((tree.ends[number], leave))
            number += 1
        for _, leave in reversed(waiting):
            leave()
        self._end_line()
        return self._blocks

    @property
    def _table(self) -> _TableRows | None:
        return self._tables[-1] if self._tables else None

    def _end_line(self) -> None:
        """End the paragraph; inside code or a cell, only the line."""
        if self._code:
            self._line.pieces.append(_BREAK)
        elif self._table:
            self._line.pieces.append(" ")
        elif self._line.pieces:
            self._emit(self._take_line())

    def _take_line(self) -> _Line:
        """Begin a new line and return the one before; a link or code around the end of a line is on both."""
        line, self._line = self._line, _Line()
        for span in line.spans:
            if span.end < 0:
                span.end = len(line.pieces)
                self._line.spans.append(_Span(0, span.url))
        return line

    def _emit(self, line: _Line, *, level: int = 0) -> None:
        text = line.plain()
        if not text:
            return
        markdown = line.markdown()
        if level:
            text, markdown = text.replace("\n", " "), f"{'#' * level} {markdown.replace(chr(10), ' ')}"
        kind = ContentKind.HEADING if level else ContentKind.ITEM if self._lists else ContentKind.PARAGRAPH
        linked = min(1.0, line.anchor_characters() / len(text))
        markdown = markdown.replace("\n", "  \n")
        self._add(ContentBlock(kind=kind, text=text, markdown=markdown, level=level, linked=linked))

    def _add(self, block: ContentBlock) -> None:
        containers = self._containers
        if len(containers) > MAX_NESTING:
            containers = [*containers[: MAX_NESTING - 1], containers[-1]]
        begins_item = bool(containers) and containers[-1].is_item and not containers[-1].is_begun
        first = "".join(each.indent if each.is_begun else each.marker for each in containers)
        rest = "".join(each.indent for each in containers)
        items = [each for each in containers if each.is_item]
        text_first = "".join(each.indent if each.is_begun else each.marker for each in items)
        text_rest = "".join(each.indent for each in items)
        for each in containers:
            each.is_begun = each.is_begun or each.is_item
        self._blocks.append(
            replace(
                block,
                text=_indented(block.text, text_first, text_rest),
                markdown=_indented(block.markdown, first, rest),
                is_tight=begins_item and self._was_item,
            )
        )
        self._was_item = bool(self._lists)

    def _enter_block(self, _: int) -> Callable[[], None]:
        self._end_line()
        return self._end_line

    def _enter_heading(self, number: int) -> Callable[[], None] | None:
        if self._code or self._table:
            return self._enter_block(number)
        self._end_line()
        return partial(self._leave_heading, _LEVELS[self._tree.tags[number]])

    def _leave_heading(self, level: int) -> None:
        self._emit(self._take_line(), level=level)

    def _enter_code_block(self, number: int) -> Callable[[], None]:
        if self._table or self._code:
            return self._enter_block(number)
        self._end_line()
        self._code += 1
        return partial(self._leave_code_block, number)

    def _leave_code_block(self, number: int) -> None:
        self._code -= 1
        raw = "".join(self._take_line().pieces).replace(_BREAK, "\n").replace("\r\n", "\n")
        text = CONTROL.sub("", raw).strip("\n")
        if text.strip():
            fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
            markdown = f"{fence}{self._language(number)}\n{text}\n{fence}"
            self._add(ContentBlock(kind=ContentKind.CODE, text=text, markdown=markdown))

    def _language(self, number: int) -> str:
        """Return the language in the class of a code block, of the element around it or of the first one inside."""
        near = [number, self._tree.parents[number], number + 1]
        for each in near:
            if 0 <= each < len(self._tree.tags) and self._tree.tags[each] != TEXT_TAG:
                found = _LANGUAGE.search(self._tree.nodes[each].attributes.get("class") or "")
                if found:
                    return found[1].lower()
        return ""

    def _enter_list(self, number: int) -> Callable[[], None]:
        self._end_line()
        self._lists.append(int(self._tree.tags[number] in _ORDERED))
        return self._leave_list

    def _leave_list(self) -> None:
        self._end_line()
        self._lists.pop()

    def _enter_item(self, number: int) -> Callable[[], None]:
        if self._table or self._code or not self._lists:
            return self._enter_block(number)
        self._end_line()
        marker = f"{self._lists[-1]}. " if self._lists[-1] else "- "
        self._lists[-1] += bool(self._lists[-1])
        self._containers.append(_Container(marker, " " * len(marker), is_item=True))
        return self._leave_container

    def _enter_quote(self, number: int) -> Callable[[], None]:
        if self._table or self._code:
            return self._enter_block(number)
        self._end_line()
        self._containers.append(_Container("> ", "> "))
        return self._leave_container

    def _leave_container(self) -> None:
        self._end_line()
        self._containers.pop()

    def _enter_table(self, number: int) -> Callable[[], None]:
        self._end_line()
        is_layout = number in self._tree.layout or bool(self._code or self._table)
        self._tables.append(self._table if is_layout else _TableRows())
        return self._end_line_and_pop if is_layout else self._leave_table

    def _end_line_and_pop(self) -> None:
        self._end_line()
        self._tables.pop()

    def _leave_table(self) -> None:
        table = self._tables.pop()
        self._take_line()  # white space: parsers move text between cells out of the table
        if table and (block := table.block()):
            self._add(block)

    def _enter_row(self, number: int) -> Callable[[], None] | None:
        if not self._table:
            return self._enter_block(number)
        self._table.begin_row()
        return None

    def _enter_cell(self, number: int) -> Callable[[], None]:
        if not self._table:
            return self._enter_block(number)
        self._take_line()
        return partial(self._leave_cell, self._table, number)

    def _leave_cell(self, table: _TableRows, number: int) -> None:
        line = self._take_line()
        attributes = self._tree.nodes[number].attributes
        columns, rows = _covered(attributes.get("colspan")), _covered(attributes.get("rowspan"))
        table.anchors += line.anchor_characters()
        table.add(line.plain(), line.markdown(), columns=columns, rows=rows)

    def _enter_caption(self, number: int) -> Callable[[], None]:
        if not self._table:
            return self._enter_block(number)
        self._take_line()
        return self._leave_caption

    def _leave_caption(self) -> None:
        self._emit(self._take_line())

    def _enter_link(self, number: int) -> Callable[[], None] | None:
        target = self._tree.nodes[number].attributes.get("href") or ""
        if self._code or not target or target.startswith("#") or self._url_characters > MAX_URL_CHARACTERS:
            return None
        url = canonicalize(target, self._base)
        if not url:
            return None
        self._url_characters += len(url)
        return self._open_span(_Span(len(self._line.pieces), url))

    def _enter_code(self, _: int) -> Callable[[], None] | None:
        return None if self._code else self._open_span(_Span(len(self._line.pieces)))

    def _open_span(self, span: _Span) -> Callable[[], None]:
        self._line.spans.append(span)
        return self._close_span

    def _close_span(self) -> None:
        span = next(span for span in reversed(self._line.spans) if span.end < 0)
        span.end = len(self._line.pieces)

    def _enter_break(self, _: int) -> None:
        pieces = self._line.pieces
        last = next((piece for piece in reversed(pieces) if not piece.isspace()), "")
        if last == _BREAK and not self._code and not self._table:
            self._end_line()  # two breaks separate paragraphs
        else:
            pieces.append(_BREAK)


def _covered(value: str | None) -> int:
    """Return the number of columns or rows that a cell covers, within bounds."""
    digits = (value or "").strip()[:4]
    return min(MAX_SPAN, max(1, int(digits))) if digits.isascii() and digits.isdigit() else 1


def _indented(text: str, first: str, rest: str) -> str:
    if not first and not rest:
        return text
    lines = text.split("\n")
    return "\n".join([first + lines[0], *((rest + line).rstrip() if not line else rest + line for line in lines[1:])])


_Enter = Callable[[_BlockWriter, int], Callable[[], None] | None]
_LEVELS = {tag: level for level in range(1, 7) for tag in tag_ids(f"h{level}")}
_ORDERED = tag_ids("ol")
_INLINE = tag_ids(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small span"
    " strike strong sub sup time tt u var wbr ruby rb rt area math mi mn mo mrow msub msup mfrac"
)
_ENTER: dict[int, _Enter | None] = {
    **dict.fromkeys(_INLINE),
    **dict.fromkeys(_LEVELS, _BlockWriter._enter_heading),
    **dict.fromkeys(tag_ids("pre listing xmp"), _BlockWriter._enter_code_block),
    **dict.fromkeys(tag_ids("ul ol"), _BlockWriter._enter_list),
    **dict.fromkeys(tag_ids("li"), _BlockWriter._enter_item),
    **dict.fromkeys(tag_ids("blockquote"), _BlockWriter._enter_quote),
    **dict.fromkeys(tag_ids("table"), _BlockWriter._enter_table),
    **dict.fromkeys(tag_ids("tr"), _BlockWriter._enter_row),
    **dict.fromkeys(tag_ids("td th"), _BlockWriter._enter_cell),
    **dict.fromkeys(tag_ids("caption"), _BlockWriter._enter_caption),
    **dict.fromkeys(tag_ids("a"), _BlockWriter._enter_link),
    **dict.fromkeys(tag_ids("code kbd samp tt"), _BlockWriter._enter_code),
    **dict.fromkeys(tag_ids("br"), _BlockWriter._enter_break),
}
