"""From the bytes of a page to its record: title, headings, text, language, links."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from thresher.parse.blocks import read_blocks
from thresher.parse.bounds import tame
from thresher.parse.charset import decode
from thresher.parse.links import read_links
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


def parse(url: str, body: bytes, content_type: str = "") -> ParsedPage:
    """Read a page; markup of any kind gives a record, and never an error.

    Args:
        url: The page's own address, canonical.
        body: Its bytes after content decoding.
        content_type: The header of that name; may be empty.
    """
    source = decode(body, content_type)
    if content_type.lower().startswith("text/plain"):
        text = _fold(source, MAX_TEXT_CHARACTERS)
        return ParsedPage(url=url, text=text, language=language(text), blocks=(text,) if text else ())
    tree = LexborHTMLParser(tame(source))
    head = _read_head(tree)
    found = walk(tree)
    blocks = read_blocks(found)
    headings = [found.text(heading)[:MAX_FIELD_CHARACTERS] for heading in found.headings]
    text = f"{head.title} {found.text()}".strip()[:MAX_TEXT_CHARACTERS]
    base = canonicalize(head.base, url) if head.base else None
    return ParsedPage(
        url=url,
        title=head.title,
        headings=tuple(filter(None, headings)),
        keywords=head.keywords,
        description=head.description,
        text=text,
        language=language(text) or _declared_language(tree),
        links=read_links(found, blocks, headings, base or url),
        noindex="noindex" in head.robots or "none" in head.robots.split(","),
        nofollow="nofollow" in head.robots or "none" in head.robots.split(","),
        blocks=blocks.texts,
    )


def _read_head(tree: LexborHTMLParser) -> _Head:
    """Read title, base and meta; of several the first counts, but every robots rule holds."""
    head = _Head()
    for node in tree.css("title, base[href], meta[name][content]"):
        if node.tag == "title":
            head.title = head.title or _fold(node.text(), MAX_FIELD_CHARACTERS)
        elif node.tag == "base":
            head.base = head.base or node.attributes.get("href") or ""
        else:
            _read_meta(head, (node.attributes.get("name") or "").lower(), node.attributes.get("content") or "")
    return head


def _read_meta(head: _Head, name: str, content: str) -> None:
    if name == "keywords":
        head.keywords = head.keywords or _fold(content, MAX_FIELD_CHARACTERS)
    elif name == "description":
        head.description = head.description or _fold(content, MAX_FIELD_CHARACTERS)
    elif name == "robots":
        head.robots += "," + content.lower().replace(" ", "")


def _declared_language(tree: LexborHTMLParser) -> str:
    declared = (tree.root.attributes.get("lang") or "") if tree.root else ""
    code = declared.lower().replace("_", "-").partition("-")[0].strip()
    return code if code.isalpha() and code.isascii() and 2 <= len(code) <= 3 else ""


def _fold(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit]
