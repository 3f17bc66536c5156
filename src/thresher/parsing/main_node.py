"""Selection of the main content of a page: which part of its tree a reader came for.

Three signs are used, in this order. Elements that say what they are (`nav`, `footer`, roles, and words in class and id
such as ``sidebar`` or ``cookie``) are left out, unless they hold most of the text. The main element is `main` or
`article` where one of them holds enough of the remaining text, else the innermost element that holds most of it. What
is left of menus is recognised by its share of anchor text, at the beginning and the end of the content
(`parsing.main_content`).

The document is flattened once into arrays in document order, without recursion: time and memory are linear in its size.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from selectolax.lexbor import LexborNode

from thresher.parsing.dom import COMMENT_TAG, TEXT_TAG, tag_ids

MOST_REMOVED = 0.5
"""An element with more than this share of the text is never left out for its name."""
LEAST_MARKED = 0.3
"""The share of the text that `main` or `article` needs to be the main element."""
LEAST_INNER = 0.75
"""The share of the text that an inner element needs to replace the one around it."""
MOST_IN_CELL = 600
"""A table with more characters in one cell arranges parts of the page."""

_HIDDEN = tag_ids(
    "head title script style noscript template noembed noframes datalist svg iframe object embed canvas audio video"
    " button input select textarea option dialog map rp annotation annotation-xml link meta base param source track"
)
_ASIDES = tag_ids("nav footer aside menu")
_CONTAINERS = tag_ids("body main article section div center font form span table tbody tr td")
_NAMED = tag_ids(
    "div section header footer aside nav menu main article form table tr td ul ol li dl p span a figure center fieldset"
    " details"
)
_MARKED = tag_ids("main article")
_LINK, _HEADER, _TABLE, _ROW = (next(iter(tag_ids(name))) for name in ("a", "header", "table", "tr"))
_CELLS = tag_ids("td th")
_COMPLEX = tag_ids("table ul ol dl h1 h2 h3 h4 h5 h6 pre blockquote form article section")
_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "complementary", "search", "dialog", "alertdialog", "menu", "menubar")
)
_NAMES = frozenset(
    word
    for line in (
        "ad ads adsense advert adverts advertisement advertising banner breadcrumb breadcrumbs catlinks ccpa",
        "comment comments consent cookie cookiebar cookies copyright crumb crumbs daohang dibu disqus dropdown",
        "editsection foot footer gdpr guanggao login masthead menu menus mianbaoxie modal nav navbar navbox navi",
        "navigation newsletter noprint overlay pager pagination paging popup printfooter promo promotion recommend",
        "recommendation recommendations recommended register related share sharing sharebar side sidebar sidenav",
        "signin signup sitemap skip skiplink social sponsor sponsored subnav submenu subscribe toc toolbar topbar",
        "xiangguan",
    )
    for word in line.split()
)
_BETWEEN_NAMES = re.compile(r"[^a-z]+").split
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(slots=True)
class FlatTree:
    """The visible elements and texts of a document, in document order.

    Args:
        tags: The tag id of each; that of texts is `TEXT_TAG`.
        parents: The number of the element around each; -1 for the first.
        nodes: The node of each.
        texts: The text of each text node; empty for elements.
        ends: For each, the number after the last one inside it.
        removed: Those that are not part of the content.
        layout: The tables that arrange the page.
    """

    tags: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    nodes: list[LexborNode] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    removed: bytearray = field(default_factory=bytearray)
    layout: set[int] = field(default_factory=set)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of all elements of a name."""
        tags = tag_ids(name)
        return [number for number, tag in enumerate(self.tags) if tag in tags]

    def text(self, number: int) -> str:
        """Return the text of an element, with white space collapsed."""
        return " ".join(" ".join(self.texts[number : self.ends[number]]).split())


@dataclass(slots=True)
class _Weights:
    """Bytes of text inside each element, and of text inside links; Chinese characters count as three."""

    text: list[int]
    linked: list[int]


def flatten(body: LexborNode) -> FlatTree:
    """Return the visible part of a document as arrays."""
    tree = FlatTree()
    numbers: dict[int, int] = {}
    tags, parents, nodes, texts = tree.tags, tree.parents, tree.nodes, tree.texts
    document: Any = body.parent
    numbers[document.mem_id] = -1
    for node in body.traverse(include_text=True):
        tag = node.tag_id
        around: Any = node.parent
        parent = numbers.get(around.mem_id)
        if parent is None or tag == COMMENT_TAG or tag in _HIDDEN:
            continue  # nothing inside a hidden element finds its parent
        text = ""
        if tag == TEXT_TAG:
            text = node.text_content or ""
        else:
            numbers[node.mem_id] = len(tags)
        tags.append(tag)
        parents.append(parent)
        nodes.append(node)
        texts.append(text)
    tree.ends = _ends(parents)
    tree.removed = bytearray(len(tags))
    tree.layout = _layout_tables(tree)
    return tree


def _ends(parents: list[int]) -> list[int]:
    ends = list(range(1, len(parents) + 1))
    for number in range(len(parents) - 1, 0, -1):
        parent = parents[number]
        if ends[number] > ends[parent]:
            ends[parent] = ends[number]
    return ends


def select_main(tree: FlatTree) -> int:
    """Mark what is not content as removed, and return the number of the main element."""
    marked = _remove(tree, _weigh(tree))
    weights = _weigh(tree)
    unlinked = [text - linked for text, linked in zip(weights.text, weights.linked, strict=True)]
    if not unlinked or unlinked[0] < weights.text[0] / 10:
        unlinked = weights.text  # a page of links
    return _innermost(tree, _heaviest(marked, unlinked), unlinked)


def _weigh(tree: FlatTree) -> _Weights:
    text, linked = [0] * len(tree.tags), [0] * len(tree.tags)
    for number in range(len(tree.tags) - 1, -1, -1):
        if tree.removed[number]:
            continue
        if tree.tags[number] == TEXT_TAG:
            text[number] = len(tree.texts[number].strip().encode("utf-8", "replace"))
        elif tree.tags[number] == _LINK:
            linked[number] = text[number]
        if (parent := tree.parents[number]) >= 0:
            text[parent] += text[number]
            linked[parent] += linked[number]
    return _Weights(text, linked)


def _remove(tree: FlatTree, weights: _Weights) -> list[int]:
    """Mark what says that it is not content as removed; return the elements that say that they are the content."""
    most = MOST_REMOVED * (weights.text[0] - weights.linked[0]) if tree.tags else 0
    titles, marked = tree.numbers("h1"), list[int]()
    for number, tag in enumerate(tree.tags):
        if number and tree.removed[tree.parents[number]]:
            tree.removed[number] = True
        elif tag in _NAMED and number:
            attributes = tree.nodes[number].attributes
            role = (attributes.get("role") or "").lower()
            if role == "main" or (tag in _MARKED and role not in _ROLES):
                marked.append(number)
            elif weights.text[number] - weights.linked[number] <= most:
                names = _names(attributes)
                is_header = tag == _HEADER or "header" in names
                if (
                    tag in _ASIDES
                    or role in _ROLES
                    or not _NAMES.isdisjoint(names)
                    or _is_hidden(attributes)
                    or (is_header and not _holds_any(tree, number, titles))
                ):
                    tree.removed[number] = True
    return marked


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    style = attributes.get("style")
    is_unseen = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return is_unseen or (style is not None and "display:none" in style.replace(" ", "").lower())


def _names(attributes: Mapping[str, str | None]) -> list[str]:
    """Return the words in class and id."""
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}" if attributes else ""
    return _BETWEEN_NAMES(_CAPITAL.sub(" ", names).lower()) if len(names) > 1 else []


def _holds_any(tree: FlatTree, number: int, numbers: list[int]) -> bool:
    return bisect(numbers, tree.ends[number] - 1) > bisect(numbers, number)


def _heaviest(marked: list[int], weight: list[int]) -> int:
    """Return the heaviest marked element with enough of the text, the outer one of equals; else the body."""
    heavy = [number for number in marked if weight[number] > LEAST_MARKED * weight[0]]
    return max(heavy, key=lambda number: (weight[number], -number), default=0)


def _innermost(tree: FlatTree, start: int, weight: list[int]) -> int:
    """Descend as long as one element inside holds most of the text."""
    main, number = start, start + 1
    while number < tree.ends[main] if tree.tags else False:
        is_data = tree.tags[number] == _TABLE and number not in tree.layout
        if tree.tags[number] in _CONTAINERS and not is_data and weight[number] >= LEAST_INNER * weight[main] > 0:
            main = number
            number += 1
        else:
            number = tree.ends[number]
    return main


def _layout_tables(tree: FlatTree) -> set[int]:
    """Return the tables that arrange the page: with other blocks or much text in a cell, one row or one column."""
    found: set[int] = set()
    around: list[int] = []
    rows, cells = Counter[int](), Counter[int]()
    in_cell = 0
    for number, tag in enumerate(tree.tags):
        while around and number >= tree.ends[around[-1]]:
            around.pop()
        if tag == TEXT_TAG:
            in_cell += len(tree.texts[number])
        elif tag in _CELLS or tag == _TABLE:
            in_cell = 0
        if around and (tag in _COMPLEX or in_cell > MOST_IN_CELL):
            found.update(around)
            around.clear()
        if tag == _TABLE:
            around.append(number)
        elif around:
            rows[around[-1]] += tag == _ROW
            cells[around[-1]] += tag in _CELLS
    tables = (number for number, tag in enumerate(tree.tags) if tag == _TABLE)
    return found | {number for number in tables if rows[number] < 2 or cells[number] <= rows[number]}
