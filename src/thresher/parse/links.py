"""Links as records: address, own words, words around."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborNode

from thresher.parse.blocks import Blocks
from thresher.parse.walk import LinkElement, Walk
from thresher.records import Link
from thresher.text.tokens import CJK
from thresher.urls.canonical import canonicalize

CONTEXT_TOKENS = 10
"""Words, or pairs of Chinese characters, on each side of a link that count as its context."""

MAX_ANCHOR_CHARACTERS = 200
MAX_PATH_ELEMENTS = 64

_CONTEXT_CHARACTERS = 200  # holds ten tokens of ordinary length
_CONTEXT_PIECES = 30  # half of them are the blanks between words of different elements
_UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
# Up to ten words or unspaced characters, and the character that completes the last pair. Nothing is given back.
_LEADING_TOKENS = re.compile(
    rf"(?:[\W_]*+(?:[{CJK}]|[^\W_{CJK}]++)){{1,{CONTEXT_TOKENS}}}+(?:(?<=[{CJK}])[{CJK}])?"
).match


def read_links(found: Walk, blocks: Blocks, headings: Sequence[str], base: str) -> tuple[Link, ...]:
    """Turn the links that a walk found into records; those that lead to no page are left out.

    Args:
        found: The walk.
        blocks: Its content blocks.
        headings: The text of each heading of the walk.
        base: The address that relative ones start from.
    """
    links: list[Link] = []
    addresses: dict[str, str | None] = {}
    paths: dict[int, str] = {}
    above = _last_with_text(headings)
    for element in found.links:
        target = element.target
        if target not in addresses:
            addresses[target] = canonicalize(target, base)
        if url := addresses[target]:
            heading = element.heading
            links.append(
                Link(
                    url=url,
                    anchor=_anchor(found, element),
                    context=_context(element),
                    heading=above[element.headings_above],
                    tag_path=_tag_path(element.node, paths),
                    position=len(links),
                    nofollow=_is_unfollowed(element),
                    block=blocks.numbers[heading.next_block if heading else element.block_number],
                )
            )
    return tuple(links)


def _last_with_text(headings: Sequence[str]) -> list[str]:
    """Give, for each number of headings passed, the last of them that says something."""
    above = [""]
    for heading in headings:
        above.append(heading or above[-1])
    return above


def _anchor(found: Walk, element: LinkElement) -> str:
    anchor = found.text(element)
    if not anchor:
        attributes = element.attributes
        anchor = " ".join((element.picture or attributes.get("alt") or attributes.get("title") or "").split())
    return anchor[:MAX_ANCHOR_CHARACTERS]


def _is_unfollowed(element: LinkElement) -> bool:
    rel = element.attributes.get("rel")
    return bool(rel) and not _UNFOLLOWED.isdisjoint(str(rel).lower().split())


def _context(element: LinkElement) -> str:
    """Give the tokens around a link inside its block; a line break of the page counts as a blank."""
    block, start, end = element.block, element.block_start, element.block_end
    before = "".join(block[max(0, start - _CONTEXT_PIECES) : start])[-_CONTEXT_CHARACTERS:]
    after = "".join(block[end : end + _CONTEXT_PIECES])[:_CONTEXT_CHARACTERS]
    return " ".join([*_last_tokens(before), *_first_tokens(after)])


def _last_tokens(text: str) -> list[str]:
    if text.isascii():
        return text.rsplit(maxsplit=CONTEXT_TOKENS)[-CONTEXT_TOKENS:]
    return _first_characters(text[::-1])[::-1].split()  # read backwards, words are still words


def _first_tokens(text: str) -> list[str]:
    if text.isascii():
        return text.split(maxsplit=CONTEXT_TOKENS)[:CONTEXT_TOKENS]
    return _first_characters(text).split()


def _first_characters(text: str) -> str:
    match = _LEADING_TOKENS(text)
    return match[0] if match else ""


def _tag_path(node: LexborNode, paths: dict[int, str]) -> str:
    """Name the elements from the root down to a node; of very deep ones only the outermost.

    Args:
        node: The element.
        paths: Those known so far, by element; grows.
    """
    up = node.parent
    if up is not None and (path := paths.get(up.mem_id)) is not None:
        return path + (node.tag or "")
    climbed: list[LexborNode] = []
    while up is not None and up.mem_id not in paths:
        climbed.append(up)
        up = up.parent
    path = paths[up.mem_id] if up else ""
    for element in reversed(climbed):
        if element.parent and path.count("/") < MAX_PATH_ELEMENTS - 1:  # the document itself has no name
            path += f"{element.tag}/"
        paths[element.mem_id] = path
    return f"{path}{node.tag}"
