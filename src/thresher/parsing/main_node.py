"""Selection of the main content of a page: which part of its tree a reader came for.

Elements say what they are: by tag (`nav`, `footer`, `form`), by role, and by words in class and id such as ``sidebar``
or ``related``. Those that are not content are left out, first whatever their size. Names mislead, so where too little
prose is left, the larger ones stay, in passes. The main element is `main` or `article` where one of them holds enough
of the remaining text, else the innermost element that holds most of it. Inside it, small parts are left out for more
names, such as ``author-box``, and parts that are mostly anchors. What is left of menus is recognised at the beginning
and the end of the content (`parsing.main_content`).

The document is flattened once into arrays in document order, without recursion: time and memory are linear in its size.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborNode

from thresher.parsing.dom import COMMENT_TAG, TEXT_TAG, tag_ids

PASSES = (1.0, 0.8, 0.5, 0.3, 0.5)
"""The largest share of the text that an element left out for its name may hold; the first pass that leaves enough."""
MIN_PROSE = 250
"""Bytes of prose that the main element needs; three times that where elements with half of the text stay."""
MIN_PROSE_SHARE = 0.2
"""The share of the page's prose, without comments, that the main element needs."""
PROSE_BYTES = 40
"""A text outside anchors of at least this length is prose."""
MIN_MARKED = 0.3
"""The share of the text that `main` or `article` needs to be the main element."""
MIN_INNER = 0.75
"""The share of the text that an inner element needs to replace the one around it."""
MIN_BODY = 0.4
"""The share of the main element's text that an element inside needs to replace it for being named as the body."""
MAX_INSIDE_SHARE = 0.2
"""A part of the main element with more than this share of its text is not left out."""
MAX_LINKED_INSIDE = 0.5
"""A part of the main element with more than this share of anchor text is left out."""
MAX_CELL_CHARACTERS = 600
"""A table with more characters in one cell arranges parts of the page."""

_HIDDEN = tag_ids(
    "head title script style noscript template noembed noframes datalist svg iframe object embed canvas audio video"
    " button input select textarea option dialog map rp annotation annotation-xml link meta base param source track"
)
_ASIDES = tag_ids("nav footer aside menu form fieldset")
_CAPTIONS, _PARTS = tag_ids("figcaption"), tag_ids("div section")
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


class _Sign(Enum):
    """What an element is, by its tag, role or name."""

    NONE = auto()
    MAIN = auto()
    ASIDE = auto()
    COMMENTS = auto()
    TEASER = auto()
    MINOR = auto()


def _names(*words: str) -> Callable[[str], re.Match[str] | None]:
    """Return a search for whole words in class and id; not in ``has-sidebar`` and the like."""
    return re.compile(rf"(?<!has-)(?<!with-)(?<!no-)(?<![a-z])(?:{'|'.join(words)})(?![a-z])").search


_NAMES = {
    _Sign.COMMENTS: _names(r"comment(?!ary)\w*|kommentare|comentarios|commentaires|disqus|respond|replies"),
    _Sign.ASIDE: _names(
        r"ads?|adsense|advert\w*|banner|breadcrumbs?|catlinks|ccpa|consent|cookie\w*|copyright|crumbs?|daohang|dibu",
        r"dropdown|editsection|foot|footer|gdpr|guanggao|login|masthead|menus?|mianbaoxie|modal|nav|navbar|navbox|navi",
        r"navigation|newsletter|noprint|overlay|pager|paginat\w*|paging|popup|printfooter|promo\w*|recommend\w*",
        r"register|related\w*|shar(?:e|ing)\w*|side|sidebar|sidenav|signin|signup|sitemap|skip|skiplink|social",
        r"sponsor\w*|subnav|submenu|subscribe|toc|toolbar|topbar|xiangguan",
    ),
    _Sign.TEASER: _names(r"teasers?"),
    _Sign.MINOR: _names(
        r"authors?|author-?(?:bio|box|card|info)|bio|btn|buttons?|byline|carousel|credits?|cta|donat\w*|feedback",
        r"hidden|hide|meta|metadata|more-(?:from|stories|articles|news|posts)|most-(?:read|popular|viewed)",
        r"next-(?:post|story|article)|outbrain|paywall|placeholder|player|popular|postmeta\w*|ratings?",
        r"(?:read|see|view)-(?:more|next|also)|recirc\w*|relacionad\w*|reviews|shariff|slider|social\w*|subscri\w*",
        r"taboola|taglist|tags?|tooltip|trending|up-?next|yarpp|zergnet",
    ),
}
_HEADER_NAME, _BODY_NAME = _names("header"), _names(r"(?:article|story|post|entry|news)-?(?:body|content|text)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(slots=True)
class FlatTree:
    """The visible elements and texts of a document, in document order.

    Args:
        tags: The tag id of each; that of texts is `TEXT_TAG`.
        parents: The number of the element around each; -1 for the first.
        nodes: The node of each.
        texts: The text of each text node; empty for elements.
        sizes: The bytes of each text, without white space around it; Chinese characters count as three.
        ends: For each, the number after the last one inside it.
        removed: Those that are not part of the content.
        layout: The tables that arrange the page.
    """

    tags: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    nodes: list[LexborNode] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    removed: bytearray = field(default_factory=bytearray)
    layout: set[int] = field(default_factory=set)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers of all elements of a name."""
        tags = tag_ids(name)
        return [number for number, tag in enumerate(self.tags) if tag in tags]

    def remove(self, number: int) -> None:
        """Mark an element and all inside it as removed."""
        self.removed[number : self.ends[number]] = b"\1" * (self.ends[number] - number)

    def text(self, number: int) -> str:
        """Return the text of an element, with white space collapsed."""
        return " ".join(" ".join(self.texts[number : self.ends[number]]).split())


@dataclass(slots=True)
class _Weights:
    """Bytes of text inside each element, of text inside links, and of prose."""

    text: list[int]
    linked: list[int]
    prose: list[int]

    def unlinked(self) -> list[int]:
        if self.text[0] - self.linked[0] < self.text[0] / 10:
            return self.text  # a page of links
        return [text - linked for text, linked in zip(self.text, self.linked, strict=True)]


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
    tree.sizes = [len(text.strip().encode("utf-8", "replace")) for text in texts]
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
    if not tree.tags:
        return 0
    signs = _signs(tree)
    comments = [number for number, sign in enumerate(signs) if sign is _Sign.COMMENTS]
    whole = _weigh_without(tree, comments)
    if comments and whole.prose[0] < MIN_PROSE:  # a thread of comments is the content
        comments, whole = [], _weigh_without(tree, [])
    asides = sorted([*comments, *(number for number, sign in enumerate(signs) if sign is _Sign.ASIDE)])
    unlinked = whole.unlinked()
    main, weights, before = 0, whole, None
    for most in PASSES:
        removed = [number for number in asides if unlinked[number] <= most * unlinked[0]]
        if removed == before:
            continue
        before, weights = removed, _weigh_without(tree, removed)
        weight = weights.unlinked()
        main = _body(tree, _innermost(tree, _heaviest(signs, weight), weight), weight)
        least = MIN_PROSE if most >= 0.5 else 3 * MIN_PROSE
        if weights.prose[main] >= max(least, MIN_PROSE_SHARE * whole.prose[0]):
            break
    _remove_inside(tree, signs, main, weights)
    return main


def _weigh_without(tree: FlatTree, removed: Sequence[int]) -> _Weights:
    """Remove elements, and return the weights of the rest."""
    tree.removed = bytearray(len(tree.tags))
    for number in removed:
        if not tree.removed[number]:
            tree.remove(number)
    text, linked, prose = ([0] * len(tree.tags) for _ in range(3))
    for number in range(len(tree.tags) - 1, -1, -1):
        if tree.removed[number]:
            continue
        if tree.tags[number] == TEXT_TAG:
            text[number] = size = tree.sizes[number]
            prose[number] = size if size >= PROSE_BYTES else 0
        elif tree.tags[number] == _LINK:
            linked[number] = text[number]
            prose[number] = 0
        if (parent := tree.parents[number]) >= 0:
            text[parent] += text[number]
            linked[parent] += linked[number]
            prose[parent] += prose[number]
    return _Weights(text, linked, prose)


def _signs(tree: FlatTree) -> list[_Sign]:
    """Return what each element is; one around the title or the main element is never left out for its name."""
    titles, links = tree.numbers("h1"), tree.numbers("a")
    marked = [number for number in tree.numbers("main") if number]
    kept = sorted([*titles, *marked])
    signs = [_Sign.NONE] * len(tree.tags)
    for number, tag in enumerate(tree.tags):
        if tag not in _NAMED or not number:
            continue
        attributes = tree.nodes[number].attributes
        role, names = (attributes.get("role") or "").lower(), _names_of(attributes)
        if role == "main" or (tag in _MARKED and role not in _ROLES):
            signs[number] = _Sign.MAIN
        elif _holds_any(tree, number, kept):
            continue
        elif tag in _ASIDES or role in _ROLES or tag == _HEADER or _is_hidden(attributes) or _HEADER_NAME(names):
            signs[number] = _Sign.ASIDE
        elif (sign := _sign_of(names)) is _Sign.TEASER:
            has_link = tag == _LINK or _holds_any(tree, number, links)  # the lead of an article has none
            signs[number] = _Sign.ASIDE if has_link else _Sign.NONE
        else:
            signs[number] = sign
    return signs


@lru_cache(maxsize=1 << 12)
def _sign_of(names: str) -> _Sign:
    return next((sign for sign, found in _NAMES.items() if found(names)), _Sign.NONE) if names else _Sign.NONE


def _remove_inside(tree: FlatTree, signs: list[_Sign], main: int, weights: _Weights) -> None:
    """Remove captions, parts of the main element that are mostly links, and, unless most of it goes, named ones."""
    text, linked, weight = weights.text, weights.linked, weights.unlinked()
    has_prose = linked[main] <= 0.3 * text[main]
    named = list[int]()
    number = main + 1
    while number < tree.ends[main]:
        tag = tree.tags[number]
        is_small = text[number] <= MAX_INSIDE_SHARE * text[main]
        is_linked = tag in _PARTS and linked[number] > MAX_LINKED_INSIDE * text[number]
        if tree.removed[number] or tag in _CAPTIONS or (has_prose and is_small and is_linked):
            tree.remove(number)
        elif signs[number] is _Sign.MINOR and weight[number] <= MAX_INSIDE_SHARE * weight[main]:
            named.append(number)
        else:
            number += 1
            continue
        number = tree.ends[number]
    if 2 * sum(weight[number] for number in named) <= weight[main]:
        for number in named:
            tree.remove(number)


def _body(tree: FlatTree, main: int, weight: list[int]) -> int:
    """Return the heaviest element inside that is named as the body of the article, else the main element."""
    heavy = (number for number in range(main + 1, tree.ends[main]) if weight[number] >= MIN_BODY * weight[main])
    found = [number for number in heavy if tree.tags[number] in _CONTAINERS and _is_body(tree.nodes[number].attributes)]
    return max(found, key=lambda number: (weight[number], number), default=main)


def _is_body(attributes: Mapping[str, str | None]) -> bool:
    return "articleBody" in (attributes.get("itemprop") or "") or _BODY_NAME(_names_of(attributes)) is not None


def _is_hidden(attributes: Mapping[str, str | None]) -> bool:
    style = attributes.get("style")
    is_unseen = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return is_unseen or (style is not None and "display:none" in style.replace(" ", "").lower())


def _names_of(attributes: Mapping[str, str | None]) -> str:
    """Return class and id, with a hyphen between the words of a name."""
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}" if attributes else ""
    return _CAPITAL.sub("-", names).replace("_", "-").lower() if len(names) > 1 else ""


def _holds_any(tree: FlatTree, number: int, numbers: list[int]) -> bool:
    return bisect(numbers, tree.ends[number] - 1) > bisect(numbers, number)


def _heaviest(signs: list[_Sign], weight: list[int]) -> int:
    """Return the heaviest marked element with enough of the text, the outer one of equals; else the body."""
    marked = (number for number, sign in enumerate(signs) if sign is _Sign.MAIN)
    heavy = [number for number in marked if weight[number] > MIN_MARKED * weight[0]]
    return max(heavy, key=lambda number: (weight[number], -number), default=0)


def _innermost(tree: FlatTree, start: int, weight: list[int]) -> int:
    """Descend as long as one element inside holds most of the text."""
    main, number = start, start + 1
    while number < tree.ends[main]:
        is_data = tree.tags[number] == _TABLE and number not in tree.layout
        if tree.tags[number] in _CONTAINERS and not is_data and weight[number] >= MIN_INNER * weight[main] > 0:
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
        if around and (tag in _COMPLEX or in_cell > MAX_CELL_CHARACTERS):
            found.update(around)
            around.clear()
        if tag == _TABLE:
            around.append(number)
        elif around:
            rows[around[-1]] += tag == _ROW
            cells[around[-1]] += tag in _CELLS
    tables = (number for number, tag in enumerate(tree.tags) if tag == _TABLE)
    return found | {number for number in tables if rows[number] < 2 or cells[number] <= rows[number]}
