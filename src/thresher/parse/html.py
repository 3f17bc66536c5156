"""From the bytes of a page to its record: title, headings, text, language, links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from thresher.parse.blocks import read_blocks
from thresher.parse.charset import decode
from thresher.parse.directives import PRODUCT, read_words
from thresher.parse.links import read_links
from thresher.parse.markup import markup
from thresher.parse.refresh import refresh_target
from thresher.parse.walk import walk
from thresher.records import ParsedPage
from thresher.text.languages import language
from thresher.urls.canonical import canonicalize

MAX_TEXT_CHARACTERS = 1 << 20
"""Text beyond this is cut off; no judge needs more to know what a page is about."""

MAX_FIELD_CHARACTERS = 2_000
"""The same for title, keywords, description and each heading."""


@dataclass(slots=True)
class _Head:
    """What a page says about itself, outside its text."""

    title: str = ""
    base: str = ""
    keywords: str = ""
    description: str = ""
    robots: str = ""
    refresh: str = ""
    canonical: str = ""


def parse(url: str, body: bytes, content_type: str = "") -> ParsedPage:
    """Read a page; markup of any kind gives a record, and never an error.

    Args:
        url: The page's own address, canonical.
        body: Its bytes after content decoding.
        content_type: The header of that name; may be empty.
    """
    if content_type.lower().startswith("text/plain"):
        text = _fold(decode(body, content_type), MAX_TEXT_CHARACTERS)
        return ParsedPage(url=url, text=text, language=language(text), blocks=(text,) if text else ())
    tree = LexborHTMLParser(markup(body, content_type))
    head = _read_head(tree)
    found = walk(tree)
    blocks = read_blocks(found)
    headings = [found.text(heading)[:MAX_FIELD_CHARACTERS] for heading in found.headings]
    text = f"{head.title} {found.text()}".strip()[:MAX_TEXT_CHARACTERS]
    base = canonicalize(head.base, url) if head.base else None
    asked = read_words(head.robots)
    return ParsedPage(
        url=url,
        title=head.title,
        headings=tuple(filter(None, headings)),
        keywords=head.keywords,
        description=head.description,
        text=text,
        language=language(text) or _declared_language(tree),
        links=read_links(found, blocks, headings, base or url),
        noindex=asked.noindex,
        nofollow=asked.nofollow,
        refresh=refresh_target(head.refresh, base or url, url) if head.refresh else "",
        blocks=blocks.texts if len(text) < MAX_TEXT_CHARACTERS else _cut(blocks.texts),
        canonical=_believed(head.canonical, url, base),
    )


def _read_head(tree: LexborHTMLParser) -> _Head:
    """Read title, base and meta; of several the first counts, but every robots rule holds."""
    head = _Head()
    for node in tree.css("title, base[href], meta[content], link[rel=canonical i][href]"):
        if node.tag == "title":
            head.title = head.title or _fold(node.text(), MAX_FIELD_CHARACTERS)
        elif node.tag == "base":
            head.base = head.base or node.attributes.get("href") or ""
        elif node.tag == "link":
            head.canonical = head.canonical or (node.attributes.get("href") or "").strip()
        else:
            _read_meta(head, node)
    return head


def _read_meta(head: _Head, node: LexborNode) -> None:
    attributes = node.attributes
    name, content = (attributes.get("name") or "").lower(), attributes.get("content") or ""
    if name == "keywords":
        head.keywords = head.keywords or _fold(content, MAX_FIELD_CHARACTERS)
    elif name == "description":
        head.description = head.description or _fold(content, MAX_FIELD_CHARACTERS)
    elif name in ("robots", PRODUCT):
        head.robots += "," + content[:MAX_FIELD_CHARACTERS]
    elif (attributes.get("http-equiv") or "").lower() == "refresh" and not _is_for_others(node):
        head.refresh = head.refresh or content


def _is_for_others(node: LexborNode) -> bool:
    """Tell whether an element is meant for browsers without scripts, whose pages are poorer."""
    return node.parent is not None and node.parent.tag == "noscript"


def _believed(canonical: str, url: str, base: str | None) -> str:
    """Give the address of a canonical link; a page that names the root of a site was hardly meant to be that."""
    named = canonicalize(canonical, base or url) if canonical else None
    if named is None or (named != url and named.count("/") == 3 and named.endswith("/")):
        return ""
    return named


def _declared_language(tree: LexborHTMLParser) -> str:
    declared = (tree.root.attributes.get("lang") or "") if tree.root else ""
    code = declared.lower().replace("_", "-").partition("-")[0].strip()
    return code if code.isalpha() and code.isascii() and 2 <= len(code) <= 3 else ""


def _cut(blocks: Sequence[str]) -> tuple[str, ...]:
    """Cut the text of blocks off where that of the page is cut; they keep their numbers."""
    left, cut = MAX_TEXT_CHARACTERS, []
    for block in blocks:
        cut.append(block[:left])
        left = max(0, left - len(block))
    return tuple(cut)


def _fold(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
