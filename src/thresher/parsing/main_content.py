"""The main content of a page: what a reader came for, without menus, lists of links, notices and footers.

Few pages of a crawl are ever read. So a worker stores the markup, and the content is extracted when it is read: as
Markdown, as plain text with its paragraphs, and with what the page states about itself.

The extraction is our own over the tree of the parser: a selection of the main element (`parsing.main_node`) and a
writer of blocks (`parsing.content_blocks`). `python -m bench.collection.extraction` compares it with others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.content_blocks import (
    ContentBlock,
    ContentKind,
    blocks_of_text,
    content_blocks,
    heading_block,
    joined_markdown,
    joined_text,
)
from thresher.parsing.documents.plain_text import is_text, text_markup
from thresher.parsing.main_node import FlatTree, flatten, select_main
from thresher.parsing.markup import decode, limit_markup, markup
from thresher.parsing.metadata import NO_METADATA, PageMetadata, read_metadata
from thresher.records import ParsedPage
from thresher.urls.canonical import canonicalize

LIGHT_BYTES = 1 << 18
"""Larger pages were parsed in a child process; their markup is limited when it is read."""
MAX_BYTES = 1 << 20
"""Of larger pages no markup is stored: extraction could exceed the memory of a reader."""
MAX_CHARACTERS = 1 << 21
"""Markdown and text beyond this are left out, in whole blocks."""
MAX_LINKED_SHARE = 0.5
"""A block with more than this share of anchor text, before the first or after the last other block, is a menu."""

_SOURCES = re.compile(
    r"references|sources|bibliography|literature|notes|footnotes|citations|further reading|external links|see also"
    r"|参考|参见|來源|来源|引用|注释|脚注|延伸阅读|外部链接|外部連結|相关文献",
    re.IGNORECASE,
).match
_NOTICE = re.compile(
    r"(?:copyright\b|©|\(c\) ?\d{4}|all rights reserved|版权所有|著作权|.{0,40}(?:ICP备|公网安备))", re.IGNORECASE
).match


@dataclass(frozen=True, slots=True)
class PageContent:
    """The main content of a page.

    Args:
        blocks: Its blocks, in the order of the page.
        metadata: What the page states about itself.
    """

    blocks: Sequence[ContentBlock] = ()
    metadata: PageMetadata = NO_METADATA

    @property
    def markdown(self) -> str:
        return joined_markdown(self.blocks)

    @property
    def text(self) -> str:
        """Plain text; a blank line stands between paragraphs."""
        return joined_text(self.blocks)


def stored_markup(page: ParsedPage, body: bytes, content_type: str = "") -> str:
    """Return the markup of a page as it is stored, that of plain text as made from it; empty for very large pages.

    Args:
        page: The parsed page.
        body: Its bytes after content decoding.
        content_type: The Content-Type header; may be empty.
    """
    if len(body) > MAX_BYTES:
        return ""
    if is_text(content_type):
        return text_markup(page.url, body, content_type)
    return markup(body, content_type) if len(body) <= LIGHT_BYTES else decode(body, content_type)


def content_of_markup(url: str, source: str) -> PageContent:
    """Extract the content of a page.

    Args:
        url: The page's canonical URL.
        source: The markup that `stored_markup` returned.
    """
    document = LexborHTMLParser(limit_markup(source))
    base = _base(document, url)
    metadata = read_metadata(document, base)
    if document.body is None:
        return PageContent(metadata=metadata)
    tree = flatten(document.body)
    main = select_main(tree)
    blocks = _without_menus(content_blocks(tree, main, base))
    if not blocks:
        tree.removed = bytearray(len(tree.tags))
        blocks = content_blocks(tree, 0, base)
    return PageContent(_limited([*_title(tree, blocks), *blocks]), metadata)


def content_of_text(text: str) -> PageContent:
    """Return a plain text as content, one paragraph per line."""
    return PageContent(_limited(blocks_of_text(text)))


def _base(document: LexborHTMLParser, url: str) -> str:
    node = document.css_first("base[href]")
    return (canonicalize(node.attributes.get("href") or "", url) if node else None) or url


def _without_menus(blocks: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
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
    return block.kind is not ContentKind.HEADING and block.linked <= MAX_LINKED_SHARE and not _NOTICE(block.text)


def _with_heading(before: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
    """Return the headings that stand over the first content: from the last one of the highest level on."""
    if not before:
        return before
    highest = min(block.level for block in before)
    start = max(number for number, block in enumerate(before) if block.level == highest)
    return before[start:]


def _title(tree: FlatTree, blocks: Sequence[ContentBlock]) -> Sequence[ContentBlock]:
    """Return the page's only h1 where that is outside its main element."""
    if not blocks or any(block.kind is ContentKind.HEADING and block.level == 1 for block in blocks):
        return []
    titles = {text for number in tree.numbers("h1") if (text := tree.text(number))}
    return [heading_block(titles.pop(), 1)] if len(titles) == 1 else []


def _limited(blocks: Sequence[ContentBlock]) -> tuple[ContentBlock, ...]:
    left, kept = MAX_CHARACTERS, []
    for block in blocks:
        left -= len(block.markdown)
        if left < 0:
            break
        kept.append(block)
    return tuple(kept)
