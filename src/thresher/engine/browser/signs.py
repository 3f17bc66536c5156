"""Signs that a page is made by its scripts: hardly any words and links of its own, and a place that waits for them."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from thresher.parse.markup import markup
from thresher.records import FetchedPage

MAX_BYTES = 1 << 20
"""Larger pages have something to say, or are not worth the trouble."""
FEW_CHARACTERS, FEW_LINKS = 250, 5
HARDLY_CHARACTERS = 60
MORE_CHARACTERS, MORE_LINKS = 100, 3

_ROOTS = "#root, #app, #__next, #__nuxt, #___gatsby, #q-app, #svelte, #main-app, app-root, [ng-app], [data-reactroot]"
_ASKS = ("javascript", "脚本")
_UNSEEN = ["script", "style", "noscript", "template"]


@dataclass(frozen=True)
class Content:
    """How much a page says, and whether it asks for scripts.

    Args:
        characters: Of visible text in its body.
        links: That lead anywhere.
        scripts: Whether it has any.
        root: Whether it has an element that frameworks fill.
        asks: Whether it tells readers to turn scripts on.
    """

    characters: int
    links: int
    scripts: bool
    root: bool
    asks: bool


def content_of(page: FetchedPage) -> Content:
    """Look at the markup of a page; its scripts do not run."""
    tree = LexborHTMLParser(markup(page.body, page.headers.get("content-type", "")))
    scripts, root = tree.css_first("script") is not None, tree.css_first(_ROOTS) is not None
    pleas = " ".join(node.text() for node in tree.css("noscript")[:10]).lower()
    links = [href for node in tree.css("a[href]") if _leads(href := node.attributes.get("href") or "")]
    tree.strip_tags(_UNSEEN)
    text = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    asks = any(word in pleas or (len(text) < FEW_CHARACTERS and word in text.lower()) for word in _ASKS)
    return Content(characters=len(text), links=len(links), scripts=scripts, root=root, asks=asks)


def _leads(href: str) -> bool:
    return bool(href) and not href.lower().startswith(("#", "javascript:"))


def needs_scripts(page: FetchedPage) -> bool:
    """Tell whether a page looks as if there were nothing to read before its scripts have run."""
    if len(page.body) > MAX_BYTES or b"<script" not in page.body.lower():
        return False
    content = content_of(page)
    thin = content.characters < FEW_CHARACTERS and content.links < FEW_LINKS
    bare = content.characters < HARDLY_CHARACTERS and not content.links
    return content.scripts and thin and (content.root or content.asks or bare)


def says_more(rendered: FetchedPage, before: FetchedPage) -> bool:
    """Tell whether rendering a page was worth it."""
    new, old = content_of(rendered), content_of(before)
    return new.characters >= old.characters + MORE_CHARACTERS or new.links >= old.links + MORE_LINKS
