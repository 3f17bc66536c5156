"""Detect pages that need their scripts: hardly any text and links, and an element that a framework fills."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from thresher.parsing.block_page import block_page
from thresher.parsing.html import parse
from thresher.parsing.markup import markup
from thresher.records import BlockKind, FetchedPage

MAX_BYTES = 1 << 20
"""Larger pages have text, or are not worth rendering."""
FEW_CHARACTERS, FEW_LINKS = 250, 5
HARDLY_CHARACTERS = 60
MORE_CHARACTERS, MORE_LINKS = 100, 3
MANY_LINKS = 30
"""A page with as many links in its markup is not checked further."""
MUCH_BYTES = 4 * FEW_CHARACTERS + 1_000
"""More text than this, of a body and a title, is not thin in any charset."""

_ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #q-app, #svelte, #main-app, app-root, [ng-app], [data-reactroot]"
_SCRIPT_WORDS = ("javascript", "脚本")
_PIECES = re.compile(
    rb"<(script|style|noscript|template|title)\b.*?(?:</\1|$)|<!--.*?(?:-->|$)|<[^>]*+|[^<]++",
    re.IGNORECASE | re.DOTALL,
).finditer
_INVISIBLE = ["script", "style", "noscript", "template"]


@dataclass(frozen=True)
class Content:
    """How much content a page has, and whether it requires scripts.

    Args:
        characters: Of visible text in its body.
        links: Links to other pages.
        scripts: Whether it has any.
        root: Whether it has an element that frameworks fill.
        asks: Whether it asks readers to enable scripts.
    """

    characters: int
    links: int
    scripts: bool
    root: bool
    asks: bool


def content_of(page: FetchedPage) -> Content:
    """Measure the markup of a page without running its scripts."""
    tree = LexborHTMLParser(markup(page.body, page.headers.get("content-type", "")))
    scripts, root = tree.css_first("script") is not None, tree.css_first(_ROOTS) is not None
    notices = " ".join(node.text() for node in tree.css("noscript")[:10]).lower()
    links = [href for node in tree.css("a[href]") if _leads(href := node.attributes.get("href") or "")]
    tree.strip_tags(_INVISIBLE)
    text = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    asks = any(word in notices or (len(text) < FEW_CHARACTERS and word in text.lower()) for word in _SCRIPT_WORDS)
    return Content(characters=len(text), links=len(links), scripts=scripts, root=root, asks=asks)


def _leads(href: str) -> bool:
    return bool(href) and not href.lower().startswith(("#", "javascript:"))


def needs_rendering(page: FetchedPage) -> bool:
    """Return whether a page seems to have no content before its scripts have run."""
    body = page.body
    if len(body) > MAX_BYTES or body.count(b"<a ") >= MANY_LINKS or _has_much_text(body):
        return False
    if b"<script" not in body.lower():
        return False
    content = content_of(page)
    thin = content.characters < FEW_CHARACTERS and content.links < FEW_LINKS
    bare = content.characters < HARDLY_CHARACTERS and not content.links
    return content.scripts and thin and (content.root or content.asks or bare)


def _has_much_text(body: bytes) -> bool:
    """Return whether a page has more text than a thin one; most pages need not be read beyond their beginning."""
    found = 0
    for piece in _PIECES(body):
        if not piece[0].startswith(b"<"):
            found += len(b"".join(piece[0].split()))
            if found >= MUCH_BYTES:
                return True
    return False


def is_challenge(page: FetchedPage) -> bool:
    """Return whether a response is a challenge to programs; such a page is not rendered."""
    found = block_page(parse(page.url, page.body, page.headers.get("content-type", "")), page)
    return found is not None and found.kind is BlockKind.CHALLENGE


def has_more_content(rendered: FetchedPage, before: FetchedPage) -> bool:
    """Return whether rendering added content to a page."""
    new, old = content_of(rendered), content_of(before)
    return new.characters >= old.characters + MORE_CHARACTERS or new.links >= old.links + MORE_LINKS
