"""One pass over a parsed document: its visible text in order, with the positions of headings and links.

The tree is walked once, in document order and without recursion, so no nesting is too deep. There are no events for the
end of an element: instead the context (`Place`) of each element is stored by its id, where its children find it.

Content blocks: the parts of a page that each have a subject of their own; LPE, section 4.

A text or a link belongs to the deepest block element around it. A heading belongs to the text that follows it. A block
of a few words is merged with the next one beside it, the last with the one before: a table cell is not a block.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode, create_tag

from thresher.native import compiled, compiled_tree
from thresher.text.tokens import CJK

BLOCK_TAGS = "article section main nav aside header footer form fieldset div table td ul ol dl blockquote"
"""Elements that bound a content block."""

MAX_RAW_CHARACTERS = 2 << 20
"""Text beyond this is ignored: splitting a text into words needs twenty times its memory."""

OTHER_TARGETS = ("data-href", "xlink:href")
"""Attributes with the address of a link whose ``href`` has none."""
_WITH_OTHERS = r"a[data-href], area[data-href], a[xlink\:href], area[xlink\:href], svg a"
"""The links that may have such attributes."""

MAX_LINKS = 5_000
"""Links beyond this many on one page are ignored."""


@dataclass(slots=True)
class HeadingElement:
    """A heading as found.

    Args:
        start, end: The range of its text in the pieces of the page.
        block: The number of its block.
        block_start, block_end: The range of its text in the pieces of the block.
        next_block: The number of the block of the text that follows; its own when nothing follows.
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
    """A link as found, before its URL is resolved.

    Args:
        node: The element; None from the compiled walk.
        attributes: Its attributes.
        target: The URL as written.
        start, end: The range of its text in the pieces of the page.
        block: The text of its block, in pieces.
        block_number: The number of that block.
        block_start, block_end: The range of its text in the pieces of the block.
        headings_above: Number of headings that begin before it.
        heading: The heading that contains it.
        picture: Alternative text of the first image inside it that has one.
        path: The path of elements to it, from the compiled walk; otherwise empty.
    """

    node: Any
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
    path: str = ""


@dataclass(slots=True)
class Walk:
    """The result of the pass; text is stored in pieces, with a blank wherever an element breaks the line.

    Args:
        pieces: The text of the page.
        blocks: The text of each block element, without that of the blocks inside it, in document order; number 0 is
            the text outside all of them.
        outer_blocks: The number of the block around each; that of 0 is 0.
        hidden_links: Links for browsers without scripts; their text is not part of the page.
        waiting: The headings that no text has followed yet.
    """

    pieces: list[str] = field(default_factory=list)
    blocks: list[list[str]] = field(default_factory=lambda: [[]])
    outer_blocks: list[int] = field(default_factory=lambda: [0])
    headings: list[HeadingElement] = field(default_factory=list)
    links: list[LinkElement] = field(default_factory=list)
    hidden_links: list[LexborNode] = field(default_factory=list)
    waiting: list[HeadingElement] = field(default_factory=list)

    def text(self, element: HeadingElement | LinkElement | None = None) -> str:
        """Return the text of the page, or of one element, with white space collapsed."""
        start, end = (element.start, element.end) if element else (0, len(self.pieces))
        if compiled and element:
            return compiled.folded(self.pieces, start, end)
        text = "".join(self.pieces[start:end])[:MAX_RAW_CHARACTERS]
        return compiled.folded([text], 0, 1) if compiled else " ".join(text.split())


# The context of text: the element that breaks its lines, the pieces of its block, the link and heading around it, and
# the block's number. A plain tuple, because one is made for every paragraph and list item. None: nothing is visible.
VisiblePlace = tuple[int, list[str], LinkElement | None, HeadingElement | None, int]
Place = VisiblePlace | None


def walk(tree: LexborHTMLParser, source: str) -> Walk:
    """Collect text, headings and links of a document.

    Args:
        source: Its markup.
    """
    if _TREE and tree.root:
        found = Walk()
        has_others = any(name in source for name in OTHER_TARGETS)
        others = {node.mem_id: _other_target(node.attributes) for node in tree.css(_WITH_OTHERS)} if has_others else {}
        try:
            noscripts = _TREE.walk(tree.root.mem_id, found, {node: target for node, target in others.items() if target})
        except _TREE.NotSupported:
            return walk_nodes(tree)
        for node in tree.css("noscript") if noscripts else ():
            if node.mem_id in noscripts:
                _enter_noscript(found, node)
        return found
    return walk_nodes(tree)


def walk_nodes(tree: LexborHTMLParser) -> Walk:
    """Do `walk` by the nodes of selectolax: the reference for the compiled walk."""
    found = Walk()
    pieces = found.pieces
    line, block = 0, found.blocks[0]
    outside: Place = (0, block, None, None, 0)
    waiting = found.waiting
    places: dict[int, Place] = {}
    root: Any = tree.root  # Any: the stubs allow for trees without a root and nodes without a parent
    for node in root.traverse(include_text=True):
        tag = node.tag_id
        if tag == TEXT_TAG:
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
        elif tag != COMMENT_TAG:
            place = places.get(node.parent.mem_id, outside)
            if place and (enter := _ENTER.get(tag, _enter_line)):
                place = enter(found, node, place)
                if tag not in _INLINE:
                    line = 0
            places[node.mem_id] = place
    return found


def _stretch(found: Walk, place: VisiblePlace) -> None:
    """Extend the link and the heading around a piece of text to its end, and set the next text of waiting headings."""
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


def _enter_noscript(found: Walk, node: LexborNode, _: VisiblePlace | None = None) -> Place:
    found.hidden_links += node.css("a[href], area[href]")[: MAX_LINKS - len(found.hidden_links)]
    return None


def _enter_link(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    link = _add_link(found, node, place, "href")
    return (place[0], place[1], link, place[3], place[4]) if link else place


def _enter_frame(found: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    _add_link(found, node, place, "src")
    return None  # the content is for browsers without frames


def _enter_image(_: Walk, node: LexborNode, place: VisiblePlace) -> Place:
    link = place[2]
    if link and not link.picture:
        link.picture = node.attributes.get("alt") or ""
    return place


def _add_link(found: Walk, node: LexborNode, place: VisiblePlace, name: str) -> LinkElement | None:
    attributes = node.attributes
    target = attributes.get(name)
    if name == "href" and (not target or target.startswith(("#", "javascript:"))):
        target = _other_target(attributes) or target
    if not target or target.startswith("#") or len(found.links) >= MAX_LINKS:
        return None
    here, inside = len(found.pieces), len(place[1])
    _, block, _, heading, number = place
    link = LinkElement(
        node, attributes, target, here, here, block, number, inside, inside, len(found.headings), heading
    )
    found.links.append(link)
    return link


def _other_target(attributes: Mapping[str, str | None]) -> str | None:
    """Return the address of a link in the other attributes that may hold it."""
    return next(filter(None, map(attributes.get, OTHER_TARGETS)), None)


def tag_ids(names: str) -> frozenset[int]:
    """Return the ids of elements by their names, separated by blanks."""
    return frozenset(create_tag(name).tag_id for name in names.split())


def _id_of_first_node(body: str) -> int:
    tree = LexborHTMLParser(f"<body>{body}")
    return next(node.tag_id for node in tree.css("body")[0].traverse(include_text=True) if node.tag != "body")


TEXT_TAG = _id_of_first_node("text")
COMMENT_TAG = _id_of_first_node("<!-- comment -->")
_Enter = Callable[[Walk, LexborNode, VisiblePlace], Place]
_INLINE = tag_ids(
    "a abbr acronym area b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q s samp small"
    " span strike strong sub sup time tt u var wbr"
)
_ENTER: dict[int, _Enter | None] = {
    **dict.fromkeys(_INLINE),
    **dict.fromkeys(tag_ids(BLOCK_TAGS), _enter_block),
    **dict.fromkeys(tag_ids("h1 h2 h3 h4 h5 h6"), _enter_heading),
    **dict.fromkeys(tag_ids("head title script style template noembed noframes datalist"), _enter_hidden),
    **dict.fromkeys(tag_ids("noscript"), _enter_noscript),
    **dict.fromkeys(tag_ids("a area"), _enter_link),
    **dict.fromkeys(tag_ids("frame iframe"), _enter_frame),
    **dict.fromkeys(tag_ids("img"), _enter_image),
}


_ELEMENTS = (
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body"
    " br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em"
    " embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i"
    " iframe image img input ins isindex kbd keygen label legend li link listing main map mark marquee menu meta meter"
    " nav nobr noembed noframes noscript object ol optgroup option output p param picture plaintext pre progress q rb"
    " rp rt rtc ruby s samp script section select slot small source span strike strong style sub summary sup svg table"
    " tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp g path math"
)
"""Elements whose names the compiled walk knows; it leaves pages with others around a link to the walk in Python."""
_KINDS = (
    None,
    _enter_line,
    _enter_block,
    _enter_heading,
    _enter_hidden,
    _enter_link,
    _enter_frame,
    _enter_image,
    _enter_noscript,
)
"""What is done at the start of an element, by the numbers that the compiled walk has for it."""
MAX_PATH_ELEMENTS = 64
"""Elements of a link's path."""


def _compiled_walk() -> Any:
    """Return the compiled walk; None when there is none, or nodes have another layout than it expects."""
    if not compiled_tree:
        return None
    page: Any = LexborHTMLParser("<div><p>text</p><a href=1 src=2 rel=3 alt=4 title=5></a></div>")
    nodes = [page.css_first("div"), page.css_first("p"), page.css_first("p").child, page.css_first("a")]
    attributes = compiled_tree.probe([node.mem_id for node in nodes], "text")
    if attributes is None:
        return None
    kinds = {tag: _KINDS.index(enter) for tag, enter in _ENTER.items()}
    names = {create_tag(name).tag_id: name for name in _ELEMENTS.split()}
    classes, limits = (LinkElement, HeadingElement), (MAX_LINKS, MAX_PATH_ELEMENTS)
    compiled_tree.prepare(kinds, _INLINE, names, (TEXT_TAG, COMMENT_TAG), attributes, classes, limits)
    return compiled_tree


_TREE = _compiled_walk()

MIN_TOKENS = 10
"""Minimum size of a block in words, or unspaced characters."""

_LONG_CHARACTERS = 100  # contains ten tokens of ordinary length, so they need not be counted
_UNSPACED = re.compile(rf"[{CJK}]").search


@dataclass(frozen=True, slots=True)
class Blocks:
    """The content blocks of a page.

    Args:
        texts: Their texts.
        numbers: For each block element of the walk, the index of its text; -1 for an empty one.
    """

    texts: tuple[str, ...]
    numbers: Sequence[int]


def read_blocks(found: Walk) -> Blocks:
    """Split the text that a walk found into blocks."""
    texts = ["".join(pieces).strip() if pieces else "" for pieces in _with_headings_moved(found)]
    linked = {link.heading.next_block if link.heading else link.block_number for link in found.links}
    used = [number for number, text in enumerate(texts) if text or number in linked]
    groups = _joined(used, texts, found.outer_blocks)
    numbers = [-1] * len(texts)
    for place, group in enumerate(groups):
        for number in group:
            numbers[number] = place
    return Blocks(tuple([_text(group, texts) for group in groups]), numbers)


def _text(group: Sequence[int], texts: Sequence[str]) -> str:
    return " ".join([texts[number] for number in group]).strip() if len(group) > 1 else texts[group[0]]


def _with_headings_moved(found: Walk) -> list[list[str]]:
    """Return the pieces of every block, with headings moved before the text that follows them."""
    blocks = [*found.blocks]
    moved: dict[tuple[int, int], list[str]] = {}
    for heading in found.headings:
        if heading.next_block != heading.block and heading.end > heading.start:
            pieces = _take_out(heading, blocks, found)
            moved.setdefault((heading.next_block, heading.next_start), []).extend([*pieces, " "])
    for (number, start), pieces in moved.items():
        own = _own(number, blocks, found)
        own[start] = "".join([*pieces, own[start]])
    return blocks


def _take_out(heading: HeadingElement, blocks: list[list[str]], found: Walk) -> list[str]:
    start, end = heading.block_start, heading.block_end
    own = _own(heading.block, blocks, found)
    pieces = own[start:end]
    own[start:end] = [""] * (end - start)
    return pieces


def _own(number: int, blocks: list[list[str]], found: Walk) -> list[str]:
    """Copy a block before its first change: the walk's pieces are still needed for the context of links."""
    if blocks[number] is found.blocks[number]:
        blocks[number] = [*found.blocks[number]]
    return blocks[number]


def _joined(used: Sequence[int], texts: Sequence[str], outer: Sequence[int]) -> list[list[int]]:
    """Merge blocks of too few tokens with the next one, or with the one before."""
    ends = _ends(outer)
    groups: list[list[int]] = []
    small: list[int] = []
    tokens = 0
    for number, following in pairwise([*used, len(outer)]):
        small.append(number)
        text = texts[number]
        tokens += MIN_TOKENS if len(text) >= _LONG_CHARACTERS else _count(text)
        if tokens >= MIN_TOKENS:
            groups.append(small)
        elif (
            not groups
            or following <= ends[outer[number]]  # usually the next cell of a table
            or _is_nearer(number, following, groups[-1][-1], outer, ends)
        ):
            continue
        else:
            groups[-1] += small
        small, tokens = [], 0
    return [*groups, small] if small else groups


def _ends(outer: Sequence[int]) -> list[int]:
    """Return the last block inside each block."""
    ends = list(range(len(outer)))
    for number in range(len(outer) - 1, 0, -1):
        end, around = ends[number], outer[number]
        if end > ends[around]:
            ends[around] = end
    return ends


def _is_nearer(number: int, following: int, before: int, outer: Sequence[int], ends: Sequence[int]) -> bool:
    """Return whether the smallest element around a block that contains a neighbour contains the following one."""
    around = outer[number]  # or a block inside it
    while following > ends[around] and before < around:
        around = outer[around]
    return following <= ends[around]


def _count(text: str) -> int:
    """Count words and, approximately, unspaced characters: those of three bytes in UTF-8."""
    if text.isascii() or not _UNSPACED(text):
        return len(text.split())
    return len(text.split()) + (len(text.encode("utf-8", "replace")) - len(text)) // 2
