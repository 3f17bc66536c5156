"""The main text of a page: what its reader came for, without menus, lists of links and footers.

Taken out by resiliparse where that is installed (`thresher[text]`): of the extractors that were compared it comes
closest to what sites themselves mark as the body, for about half the time that the parse takes. It reads the markup a
second time, and its time grows faster than the page; so heavy pages, and machines without it, have the rule over
blocks instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache

from thresher.archive.main_blocks import main_blocks
from thresher.parse.html import MAX_TEXT_CHARACTERS
from thresher.parse.markup import markup
from thresher.records import ParsedPage

MAX_BYTES = 1 << 18
"""Larger pages are left to the rule over blocks."""
MOST_BYTES = 1 << 20
"""Pages larger than this have no main text: it would cost a worker more memory than any page may."""
MAX_TAGS = 12_000
"""The same for pages of more tags."""

logger = logging.getLogger(__name__)


def main_text(page: ParsedPage, body: bytes, content_type: str = "") -> str:
    """Give the text that a reader would read, paragraphs on lines of their own; the whole text when none stands out.

    Empty for very large pages.

    Args:
        page: The page as it was parsed.
        body: Its bytes.
        content_type: The header of that name; may be empty.
    """
    if len(body) > MOST_BYTES:
        return ""
    if content_type.lower().startswith("text/plain"):
        return page.text
    return (_extracted(body, content_type) or main_blocks(page) or page.text)[:MAX_TEXT_CHARACTERS]


def _extracted(body: bytes, content_type: str) -> str:
    extract = _extractor()
    if extract is None or len(body) > MAX_BYTES or body.count(b"<") > 2 * MAX_TAGS:
        return ""
    source = markup(body, content_type)
    if not source.isascii():
        source = source.encode("utf-8", "replace").decode()
    try:
        text = extract(source)
    except Exception:  # the page itself is sound: only this reading of it is not
        logger.warning("no main text by resiliparse, %d bytes", len(body), exc_info=True)
        return ""
    lines = text.splitlines()
    return "\n".join(filter(None, map(str.strip if _is_folded(text) else _fold, lines)))


def _is_folded(text: str) -> bool:
    """Tell whether all white space inside lines is single blanks, as on most pages; no other is printable."""
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
