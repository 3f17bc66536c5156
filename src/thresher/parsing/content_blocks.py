"""The content of a page as blocks: headings, paragraphs, list items, tables and code, as Markdown and as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from thresher.parsing.markdown import escape, escape_line, folded

MOST_LINKED = 0.5
"""A block with more than this share of anchor text, before the first or after the last other block, is a menu."""

_SOURCES = re.compile(
    r"references|sources|bibliography|literature|notes|footnotes|citations|further reading|external links|see also"
    r"|参考|参见|來源|来源|引用|注释|脚注|延伸阅读|外部链接|外部連結|相关文献",
    re.IGNORECASE,
).match
_NOTICE = re.compile(
    r"(?:copyright\b|©|\(c\) ?\d{4}|all rights reserved|版权所有|著作权|.{0,40}(?:ICP备|公网安备))", re.IGNORECASE
).match


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
    lines = (folded(line) for line in text.splitlines())
    return tuple(
        ContentBlock(kind=ContentKind.PARAGRAPH, text=line, markdown=escape_line(escape(line)))
        for line in lines
        if line
    )


def heading_block(text: str, level: int) -> ContentBlock:
    """Return a heading."""
    return ContentBlock(kind=ContentKind.HEADING, text=text, markdown=f"{'#' * level} {escape(text)}", level=level)


def without_menus(blocks: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
    """Leave out menus and notices at both ends, with their headings; all is kept where nothing would be left."""
    first = next((number for number, block in enumerate(blocks) if _is_content(block)), None)
    if first is None:
        return blocks
    last = max(number for number, block in enumerate(blocks) if _is_content(block))
    last = _end_of_sources(blocks, last)
    before = [block for block in blocks[:first] if block.kind is ContentKind.HEADING]
    return [*_with_heading(before), *blocks[first : last + 1]]


def _end_of_sources(blocks: Sequence[ContentBlock], last: int) -> int:
    """Return the end of the sections after the last content whose headings name them as sources."""
    is_source = False
    for number in range(last + 1, len(blocks)):
        block = blocks[number]
        if block.kind is ContentKind.HEADING:
            is_source = _SOURCES(block.text) is not None
            if not is_source:
                break
        elif is_source:
            last = number
    return last


def _is_content(block: ContentBlock) -> bool:
    return block.kind is not ContentKind.HEADING and block.linked <= MOST_LINKED and not _NOTICE(block.text)


def _with_heading(before: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
    """Return the headings that stand over the first content: from the last one of the highest level on."""
    if not before:
        return before
    highest = min(block.level for block in before)
    start = max(number for number, block in enumerate(before) if block.level == highest)
    return before[start:]
