"""The main content of a page: what a reader came for, without menus, lists of links, notices and footers.

Few pages of a crawl are ever read. So a worker stores the markup, and the content is extracted when it is read: as
Markdown, as plain text with its paragraphs, and with what the page states about itself.

The extraction is our own over the tree of the parser: a selection of the main element (`parsing.main_node`) and a
writer of blocks (`parsing.block_writer`). `python -m bench.collection.extraction` compares it with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.block_writer import content_blocks
from thresher.parsing.content_blocks import (
    ContentBlock,
    ContentKind,
    blocks_of_text,
    heading_block,
    joined_markdown,
    joined_text,
    without_menus,
)
from thresher.parsing.documents.plain_text import is_text, text_markup
from thresher.parsing.main_node import FlatTree, flatten, select_main
from thresher.parsing.markup import decode, limit_markup, markup
from thresher.parsing.metadata import NO_METADATA, PageMetadata, read_metadata
from thresher.records import ParsedPage
from thresher.urls.canonical import canonicalize

LIGHT_BYTES = 1 << 18
"""Larger pages were parsed in a child process; their markup is limited when it is read."""
MOST_BYTES = 1 << 20
"""Of larger pages no markup is stored: extraction could exceed the memory of a reader."""
MAX_CHARACTERS = 1 << 21
"""Markdown and text beyond this are left out, in whole blocks."""


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
    if len(body) > MOST_BYTES:
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
    blocks = without_menus(content_blocks(tree, main, base))
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
