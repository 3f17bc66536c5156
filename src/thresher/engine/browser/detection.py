"""Detect pages that need their scripts: hardly any text and links, and an element that a framework fills.

Menus, headers and footers can be part of what the server sends. So a page with more text needs its scripts too if
hardly any of it is outside of these, and the element for the content is empty.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

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
"""A page with as many links in its markup is not thin."""
MUCH_BYTES = 4 * FEW_CHARACTERS + 1_000
"""More text than this, of a body and a title, is not thin in any charset."""
MAX_PLACEHOLDER_PIECES, MAX_NODES = 500, 3_000
"""An element with more tags and texts is not empty; a page with more nodes outside of menus is not thin."""

_ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #q-app, #svelte, #main-app, app-root, [ng-app], [data-reactroot]"
_CONTENT_ELEMENTS = f"{_ROOTS}, main, #content, #main"
_CONTENT_MARKS = (
    re.compile(rb"<main\b"),
    re.compile(rb"id=[\"']?(?:root|app|__next|__nuxt|___gatsby|q-app|svelte|main-app|main|content)[\"'\s>]"),
)
"""Each begins with its own literal: one pattern for both takes twenty times as long."""
_TAG = re.compile(rb"<([a-z][a-z0-9-]*+)[^>]*+>", re.IGNORECASE).match
_FRAME_TAGS = frozenset({"header", "nav", "footer", "aside", "dialog", "form", "button", "select"})
_FRAME_NAMES = re.compile(r"\b(?:nav|navbar|navigation|menu|header|footer|cookies?|consent)\b", re.IGNORECASE).search
_FILLING_TAGS = frozenset({"h1", "h2", "h3", "img", "iframe", "video", "audio", "object", "embed", "table"})
"""An element with one of these is not empty."""
_SCRIPT_WORDS = ("javascript", "脚本")
_PIECES = re.compile(
    rb"<(script|style|noscript|template|title)\b.*?(?:</\1\s*+>?+|$)|<!--.*?(?:-->|$)|<[^>]*+>?+|[^<]++",
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
    if len(body) > MAX_BYTES or b"<script" not in body.lower():
        return False
    if body.count(b"<a ") < MANY_LINKS and not _has_much_text(body):
        content = content_of(page)
        thin = content.characters < FEW_CHARACTERS and content.links < FEW_LINKS
        bare = content.characters < HARDLY_CHARACTERS and not content.links
        if content.scripts and thin and (content.root or content.asks or bare):
            return True
    return _has_empty_content(body) and _is_frame(page)


def _has_empty_content(body: bytes) -> bool:
    """Return whether an element for the content has hardly any text; most pages need not be parsed for this."""
    marks = (mark for pattern in _CONTENT_MARKS for mark in islice(pattern.finditer(body), 3))
    return any(_is_empty(body, body.rfind(b"<", 0, mark.start() + 1)) for mark in marks)


def _is_empty(body: bytes, start: int) -> bool:
    """Return whether the element that starts at an offset has hardly any text."""
    if start < 0 or not (tag := _TAG(body, start)):
        return False
    name, depth, found = tag[1].lower(), 1, 0
    for piece in islice(_PIECES(body, tag.end()), MAX_PLACEHOLDER_PIECES):
        if not piece[0].startswith(b"<"):
            found += len(b"".join(piece[0].split()))
        elif piece[0][1:].lower().startswith((name, b"/" + name)):
            depth += -1 if piece[0].startswith(b"</") else 1
        if not depth or found >= HARDLY_CHARACTERS:
            break
    return not depth and found < HARDLY_CHARACTERS


def _is_frame(page: FetchedPage) -> bool:
    """Return whether a page has only menus, headers and footers around an empty element for its content."""
    tree = LexborHTMLParser(markup(page.body, page.headers.get("content-type", "")))
    if tree.body is None or not _is_thin(tree.body, FEW_CHARACTERS):
        return False
    found = (node for node in tree.css(_CONTENT_ELEMENTS)[:5] if not _is_around(node))
    return any(_is_thin(node, HARDLY_CHARACTERS, filling=_FILLING_TAGS) for node in found)


def _is_thin(top: LexborNode, characters: int, *, filling: Collection[str] = ()) -> bool:
    """Return whether an element has little text and few links outside of menus, headers and footers.

    Args:
        characters: The least number of characters that is not little.
        filling: Tags of which it has none.
    """
    waiting, links = [top], 0
    for _ in range(MAX_NODES):
        if not waiting or characters <= 0 or links >= FEW_LINKS:
            break
        node = waiting.pop()
        if node.tag == "-text":
            characters -= len("".join((node.text_content or "").split()))
        elif node.tag == "a":
            links += _leads(node.attributes.get("href") or "")
        elif node.tag in filling:
            return False
        elif node.tag not in _INVISIBLE and (node is top or not _is_around(node)):
            waiting += node.iter(include_text=True)
    return not waiting and characters > 0 and links < FEW_LINKS


def _is_around(node: LexborNode) -> bool:
    """Return whether an element is a menu, a header or a footer."""
    attributes = node.attributes
    names = f"{attributes.get('id') or ''} {attributes.get('class') or ''} {attributes.get('role') or ''}"
    return node.tag in _FRAME_TAGS or (bool(_FRAME_NAMES(names)) and node.css_first("main, article") is None)


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
