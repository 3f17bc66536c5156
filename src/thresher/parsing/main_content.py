"""Extraction of the main text of a page: without menus, lists of links and footers.

Uses resiliparse where that is installed (`thresher-crawler[text]`): of the compared extractors its result is closest to
what sites themselves mark as the body, in about half the time of parsing. It parses the markup a second time, and its
time grows faster than the page; so for heavy pages, and without it, a rule over content blocks is used instead.

Few pages of a crawl are ever read. So a worker stores the markup, and the main text is extracted when it is read; only
of heavy pages it stores the text that the rule over blocks finds.

The rule is that of Kohlschütter, Fankhauser and Nejdl, Boilerplate Detection using Shallow Text Features, WSDM 2010: it
uses the number of words of a block, its share of anchor text, and the same of its neighbours. The blocks are those of
the parser. It needs no second parser, and its time is bounded.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from thresher.parsing.html import MAX_TEXT_CHARACTERS, parse_markup
from thresher.parsing.markup import markup
from thresher.records import ParsedPage
from thresher.text.tokens import CJK

MOST_LINKED = 1 / 3
"""A block of which more than this is anchors is a list of links."""

_MUCH_LINKED = 0.555556  # of the block before: a menu is often followed by another one
_FEW_WORDS, _FEW_AFTER, _FEW_BEFORE = 16, 15, 4
_FEW_WORDS_AFTER_MENU, _FEW_AFTER_MENU = 40, 17
_UNSPACED = re.compile(rf"[{CJK}]").findall


@dataclass(frozen=True, slots=True)
class _Shape:
    """The features of a block: number of words, and share of anchor text."""

    words: float = 0.0
    linked: float = 0.0


def main_blocks(page: ParsedPage) -> str:
    """Return the content blocks of a page, one per line; empty when there is none."""
    shapes = _shapes(page)
    around = [_Shape(), *shapes, _Shape()]
    chosen = [
        " ".join(text.split())
        for text, before, here, after in zip(page.blocks, around, shapes, around[2:], strict=False)
        if _is_content(before, here, after)
    ]
    return "\n".join(chosen)


def _shapes(page: ParsedPage) -> Sequence[_Shape]:
    anchors = [0] * len(page.blocks)
    for link in page.links:
        if 0 <= link.block < len(anchors):
            anchors[link.block] += len(link.anchor)
    return [
        _Shape(_words(text), min(1.0, linked / len(text)) if text else 0.0)
        for text, linked in zip(page.blocks, anchors, strict=True)
    ]


def _is_content(before: _Shape, here: _Shape, after: _Shape) -> bool:
    if here.linked > MOST_LINKED:
        return False
    if before.linked > _MUCH_LINKED:
        return here.words > _FEW_WORDS_AFTER_MENU or after.words > _FEW_AFTER_MENU
    return here.words > _FEW_WORDS or after.words > _FEW_AFTER or before.words > _FEW_BEFORE


def _words(text: str) -> float:
    """Count words; in unspaced scripts, two characters count as one."""
    words = len(text.split())
    return words if text.isascii() else words + len(_UNSPACED(text)) / 2


MAX_BYTES = 1 << 18
"""For larger pages the rule over blocks is used."""
MOST_BYTES = 1 << 20
"""Pages larger than this have no main text: extraction would exceed a worker's memory limit per page."""
MAX_TAGS = 12_000
"""For pages with more tags the rule over blocks is used."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MainContent:
    """What is stored of a page for its main text; both are empty when the whole text is the main text.

    Args:
        text: The main text of a heavy page.
        markup: The markup of any other page, decoded and limited.
    """

    text: str = ""
    markup: str = ""


def main_content(page: ParsedPage, body: bytes, content_type: str = "") -> MainContent:
    """Return what to store of a page; nothing of plain text and of very large pages.

    Args:
        page: The parsed page.
        body: Its bytes.
        content_type: The Content-Type header; may be empty.
    """
    if len(body) > MOST_BYTES or content_type.lower().startswith("text/plain"):
        return MainContent()
    if len(body) > MAX_BYTES or body.count(b"<") > 2 * MAX_TAGS:
        return MainContent(text=main_blocks(page)[:MAX_TEXT_CHARACTERS])
    return MainContent(markup=markup(body, content_type))


def main_text_of_markup(url: str, source: str) -> str:
    """Return the main text, one paragraph per line; empty when none is found.

    Args:
        url: The page's canonical URL.
        source: The markup that `main_content` returned.
    """
    return (_extracted(source) or main_blocks(parse_markup(url, source)))[:MAX_TEXT_CHARACTERS]


def _extracted(source: str) -> str:
    extract = _extractor()
    if extract is None:
        return ""
    if not source.isascii():
        source = source.encode("utf-8", "replace").decode()
    try:
        text = extract(source)
    except Exception:  # the page was parsed before: only the extraction fails
        logger.warning("no main text by resiliparse, %d characters", len(source), exc_info=True)
        return ""
    lines = text.splitlines()
    return "\n".join(filter(None, map(str.strip if _is_folded(text) else _fold, lines)))


def _is_folded(text: str) -> bool:
    """Return whether all white space inside lines is single blanks, as on most pages; no other is printable."""
    return "  " not in text and text.replace("\n", "").isprintable()


def _fold(line: str) -> str:
    return " ".join(line.split())


@cache
def _extractor() -> Callable[[str], str] | None:
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError:
        return None
    return lambda source: str(extract_plain_text(source, main_content=True, alt_texts=False))
