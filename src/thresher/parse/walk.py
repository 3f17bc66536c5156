"""One pass over a parsed document: its visible text in order, and where headings and links stand in it.

The tree is walked once, flat, in document order; nothing here recurses, so no nesting is too deep. There are no
signals for the end of an element: instead each element hands the place it makes, or the one it stands in, to its
children, who find it by their parent's identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

BLOCK_TAGS = "article section main nav aside header footer form fieldset div table td ul ol dl blockquote"
"""Elements that bound a content block."""

MAX_LINKS = 1_000
"""Links beyond this many on one page are not looked at."""


@dataclass(slots=True)
class HeadingElement:
    """A heading as found.

    Args:
        start, end: The pieces of the page's text that are its own words; `end` is the first behind them.
        block: The number of its block.
        block_start, block_end: Those pieces of the block that are its own words.
        next_block: The number of the block that the text after it belongs to; its own when nothing follows.
        next_start: The first piece of that text in its block.
    """

    start: int
    end: int
    block: int
    block_start: int
    block_end: int
    next_block: int
    next_start: int


@dataclass(slots=True)
class LinkElement:
    """A link as found, before its address is understood.

    Args:
        node: The element.
        attributes: Its attributes.
        target: The address as written.
        start, end: The pieces of the page's text that are its own words.
        block: The text of its block, in pieces.
        block_number: The number of that block.
        block_start, block_end: Those pieces of the block that are its own words.
        headings_above: How many headings have begun before it.
        heading: The heading that it stands in.
        picture: Alternative text of the first image inside it that has one.
    """

    node: LexborNode
    attributes: dict[str, str | None]
    target: str
    start: int
    end: int
    block: list[str]
    block_number: int
    block_start: int
    block_end: int
    headings_above: int
    heading: HeadingElement | None
    picture: str = ""


@dataclass(slots=True)
class Walk:
    """What the pass found; text comes in pieces, with a blank wherever an element breaks the line.

    Args:
        pieces: The text of the page.
        blocks: The text of each element that bounds a block, without that of the blocks inside it. They are numbered
            in the order of the document; number 0 is what stands in none.
        outer_blocks: The number of the block around each; 0 stands in itself.
        waiting: The headings that no text has followed yet.
    """

    pieces: list[str] = field(default_factory=list)
    blocks: list[list[str]] = field(default_factory=lambda: [[]])
    outer_blocks: list[int] = field(default_factory=lambda: [0])
    headings: list[HeadingElement] = field(default_factory=list)
    links: list[LinkElement] = field(default_factory=list)
    waiting: list[HeadingElement] = field(default_factory=list)

    def text(self, element: HeadingElement | LinkElement | None = None) -> str:
        """Join the pieces, or those of one element, with all white space folded."""
        pieces = self.pieces[element.start : element.end] if element else self.pieces
        return " ".join("".join(pieces).split())


# Where text stands: the element that breaks its lines, the words of its block, the link and heading around it, and the
# block's number. A plain tuple, because one is made for every paragraph and list item. None: nothing here is visible.
VisiblePlace = tuple[int, list[str], LinkElement | None, HeadingElement | None, int]
Place = VisiblePlace | None


def walk(tree: LexborHTMLParser) -> Walk:
    """Collect text, headings and links of a document."""
    found = Walk()
    pieces = found.pieces
    line, block = 0, found.blocks[0]
    outside: Place = (0, block, None, None, 0)
    waiting = found.waiting
    places: dict[int, Place] = {}
    root: Any = tree.root  # Any: the stubs allow for trees without a root and nodes without a parent
    for node in root.traverse(include_text=True):
        tag = node.tag_id
        if tag == _TEXT:
            text = node.text_content
            if text.isspace():
                pieces.append(" ")
                block.append(" ")
            elif place := places.get(node.parent.mem_id):
                if place[0] != line:
                    line, block = place[0], place[1]
                    pieces.append(" ")
                    block.append(" ")
                pieces.append(text)
                block.append(text)
                if place[2] or place[3] or waiting:
                    _stretch(found, place)
        elif tag != _COMMENT:
            place = places.get(node.parent.mem_id, outside)
            if place and (enter := _ENTER.get(tag, _enter_line)):
                place = enter(found, node, place)
                if tag not in _INLINE:
                    line = 0
            places[node.mem_id] = place
    return found


def _stretch(found: Walk, place: VisiblePlace) -> None:
    """Let the link and the heading around a piece of text reach to its end, and tell the headings above of it."""
    _, block, link, heading, number = place
    end = len(found.pieces)
    if heading:
        heading.end = end
        if number == heading.block:
            heading.block_end = len(block)
    else:
        for above in found.waiting:
            above.next_block, above.next_start = number, len(block) - 1
        found.waiting.clear()
    if link:
        link.end = end
        if block is link.block:
            link.block_end = len(block)


def _enter_line(_: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    return (node.mem_id, place[1], place[2], place[3], place[4])


def _enter_block(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    blocks = found.blocks
    block: list[str] = []
    blocks.append(block)
    found.outer_blocks.append(place[4])
    return (node.mem_id, block, place[2], place[3], len(blocks) - 1)


def _enter_heading(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    here, inside, number = len(found.pieces), len(place[1]), place[4]
    heading = HeadingElement(here, here, number, inside, inside, number, inside)
    found.headings.append(heading)
    found.waiting.append(heading)
    return (node.mem_id, place[1], place[2], heading, number)


def _enter_hidden(_: Walk, __: LexborNode, ___: VisiblePlace) -> Place:
    return None


def _enter_link(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    link = _add_link(found, node, place, "href")
    return (place[0], place[1], link, place[3], place[4]) if link else place


def _enter_frame(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    _add_link(found, node, place, "src")
    return None  # what stands inside is for browsers without frames


def _enter_image(_: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    link = place[2]
    if link and not link.picture:
        link.picture = node.attributes.get("alt") or ""
    return place


def _add_link(found: Walk, node: LexborNode, place: VisiblePlace, name: str) -> LinkElement | None:
    attributes = node.attributes
    target = attributes.get(name)
    if not target or target.startswith("#") or len(found.links) >= MAX_LINKS:
        return None
    here, inside = len(found.pieces), len(place[1])
    _, block, _, heading, number = place
    link = LinkElement(
        node, attributes, target, here, here, block, number, inside, inside, len(found.headings), heading
    )
    found.links.append(link)
    return link


def _ids(names: str) -> list[int]:
    return [create_tag(name).tag_id for name in names.split()]


def _id_of_first_node(body: str) -> int:
    tree = LexborHTMLParser(f"<body>{body}")
    return next(node.tag_id for node in tree.css("body")[0].traverse(include_text=True) if node.tag != "body")


_TEXT = _id_of_first_node("text")
_COMMENT = _id_of_first_node("<!-- comment -->")
_Enter = Callable[[Walk, LexborNode, VisiblePlace], Place]
_INLINE = frozenset(
    _ids(
        "a abbr acronym area b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small"
        " span strike strong sub sup time tt u var wbr"
    )
)
_ENTER: dict[int, _Enter | None] = {
    **dict.fromkeys(_INLINE),
    **dict.fromkeys(_ids(BLOCK_TAGS), _enter_block),
    **dict.fromkeys(_ids("h1 h2 h3 h4 h5 h6"), _enter_heading),
    **dict.fromkeys(_ids("head title script style noscript template noembed noframes datalist"), _enter_hidden),
    **dict.fromkeys(_ids("a area"), _enter_link),
    **dict.fromkeys(_ids("frame iframe"), _enter_frame),
    **dict.fromkeys(_ids("img"), _enter_image),
}
