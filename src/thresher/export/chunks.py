"""Pages in chunks for retrieval: parts of the main content by heading, each within a size limit.

A chunk never spans two sections. Blocks are kept whole where they fit: a longer paragraph is split after sentences, a
table between rows, with its header repeated, and code between lines. No chunk is longer than the limit, overlap
included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

from thresher.export.rows import TIME, Columns, Row, time_text
from thresher.parsing.content_blocks import ContentBlock, ContentKind
from thresher.parsing.main_content import PageContent
from thresher.storage.page_store import PageRecord
from thresher.urls.canonical import fingerprint

CHUNK_COLUMNS: Columns = {
    "id": "string",
    "url": "string",
    "title": "string",
    "headings": "string",
    "position": "int32",
    "text": "string",
    "language": "string",
    "relevance": "float64",
    "relevant": "bool",
    "author": "string",
    "published": "string",
    "license": "string",
    "fetched_at": TIME,
    "opt_outs": "string",
    "hash": "string",
}
CHUNK_CHARACTERS = 2_000
MIN_CHARACTERS = 100

_SENTENCE = re.compile(r".+?(?:[.!?](?=\s)|[。！？；]|\n|$)\s*", re.DOTALL).findall
_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a page.

    Args:
        headings: The headings around it, outermost first.
        text: Its Markdown.
    """

    headings: tuple[str, ...]
    text: str


def chunk_rows(
    pages: Iterable[tuple[PageRecord, PageContent]], *, characters: int = CHUNK_CHARACTERS, overlap: int = 0
) -> Iterator[Row]:
    """Yield one row per chunk, page by page.

    Args:
        pages: The pages.
        characters: The size limit of a chunk.
        overlap: Characters of a chunk that the next one of the same section repeats, at most.
    """
    for record, content in pages:
        page = f"{record.fingerprint & 0xFFFFFFFFFFFFFFFF:016x}"
        for position, chunk in enumerate(chunks_of(content.blocks, characters=characters, overlap=overlap)):
            yield {
                "id": f"{page}-{position}",
                "url": record.url,
                "title": record.title,
                "headings": _SEPARATOR.join(chunk.headings),
                "position": position,
                "text": chunk.text,
                "language": record.language,
                "relevance": record.relevance,
                "relevant": record.relevant,
                **asdict(content.metadata),
                "fetched_at": time_text(record.fetched_at),
                "opt_outs": " ".join(record.opt_outs),
                "hash": f"{fingerprint(chunk.text) & 0xFFFFFFFFFFFFFFFF:016x}",
            }


def chunks_of(blocks: Sequence[ContentBlock], *, characters: int, overlap: int = 0) -> Iterator[Chunk]:
    """Split the content of a page."""
    section = _Section(characters, overlap)
    path: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind is ContentKind.HEADING:
            yield from section.end()
            path = [*(each for each in path if each[0] < block.level), (block.level, block.text)]
            section.begin(tuple(text for _, text in path), block.markdown)
        else:
            for number, piece in enumerate(_pieces(block, characters)):
                yield from section.add(piece, block, is_tight=block.is_tight and not number)
    yield from section.end()


@dataclass(slots=True)
class _Section:
    """The text under one heading, from which chunks are taken.

    Args:
        text: The next chunk so far: headings, the repeated end of the chunk before, and blocks.
        has_body: Whether it has more than headings and repeated text.
    """

    characters: int
    overlap: int
    headings: tuple[str, ...] = ()
    text: str = ""
    has_body: bool = False
    last: ContentBlock | None = field(default=None)

    def begin(self, headings: tuple[str, ...], heading: str) -> None:
        """Begin a section; a heading without text of its own stands before the next one."""
        self.headings = headings
        self.text = self._joined(heading, "\n\n")
        if len(self.text) > self.characters:
            self.text = ""
        self.last = None

    def add(self, piece: str, block: ContentBlock, *, is_tight: bool) -> Iterator[Chunk]:
        separator = "\n" if is_tight else "\n\n"
        if len(self._joined(piece, separator)) > self.characters:
            if self.has_body:
                yield Chunk(self.headings, self.text)
                self.text, self.has_body = self._repeated(), False
            if len(self._joined(piece, separator)) > self.characters:
                self.text = ""
        self.text = self._joined(piece, separator)
        self.has_body, self.last = True, block

    def end(self) -> Iterator[Chunk]:
        if self.has_body:
            yield Chunk(self.headings, self.text)
            self.text, self.has_body = "", False

    def _joined(self, piece: str, separator: str) -> str:
        return f"{self.text}{separator}{piece}" if self.text else piece

    def _repeated(self) -> str:
        """Return the end of the chunk that is complete, from the beginning of a word; nothing of tables and code."""
        if not self.overlap or self.last is None or self.last.kind in (ContentKind.TABLE, ContentKind.CODE):
            return ""
        end = self.text[-self.overlap :]
        if len(end) < len(self.text) and (word := re.search(r"\s", end[: self.overlap // 2])):
            end = end[word.end() :]
        return end.strip()


def _pieces(block: ContentBlock, characters: int) -> Iterator[str]:
    """Split a block that is longer than a chunk."""
    if len(block.markdown) <= characters:
        yield block.markdown
    elif block.kind is ContentKind.TABLE:
        first, rule, *rows = block.markdown.split("\n")
        yield from _packed(rows, characters, before=f"{first}\n{rule}\n")
    elif block.kind is ContentKind.CODE:
        opening, *lines, closing = block.markdown.split("\n")
        yield from _packed(lines, characters, before=f"{opening}\n", after=f"\n{closing}")
    else:
        yield from _packed(_SENTENCE(block.markdown), characters, separator="")


def _packed(
    parts: Iterable[str], characters: int, *, before: str = "", after: str = "", separator: str = "\n"
) -> Iterator[str]:
    """Join parts up to the limit; one that is too long alone is cut."""
    room = characters - len(before) - len(after)
    if room < characters // 4:  # the frame leaves too little room
        before, after, room = "", "", characters
    packed = ""
    for part in _cut(parts, room):
        longer = f"{packed}{separator}{part}" if packed else part
        if packed and len(longer.rstrip()) > room:
            yield f"{before}{packed.rstrip()}{after}"
            longer = part
        packed = longer
    if packed.strip():
        yield f"{before}{packed.rstrip()}{after}"


def _cut(parts: Iterable[str], characters: int) -> Iterator[str]:
    for part in parts:
        for start in range(0, max(1, len(part)), characters):
            yield part[start : start + characters]
