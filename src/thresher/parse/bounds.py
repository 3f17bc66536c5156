"""Markup that a parser can read in bounded time and memory.

The rules of HTML let a small page cost a lot: formatting elements left open are opened anew in every paragraph, so
20 KB can unfold to a million nodes; each start tag may look through all open elements; each attribute is compared with
all before it. Honest pages stay far below the bounds and pay for one cheap look.
"""

from __future__ import annotations

import re
from collections import Counter

MAX_CHARACTERS = 4 << 20
MAX_TAGS = 100_000
MAX_DEPTH = 1_000
MAX_ATTRIBUTES = 1_000
MAX_UNFOLDED_NODES = 500_000

_MAX_BRACKETS = 2 * MAX_TAGS  # not each begins a tag, but each is looked at

# Below these sizes the worst that the bounds prevent stays under a second.
_HARMLESS_TAGS = 12_000
_HARMLESS_CHARACTERS = 1 << 18
_HARMLESS_GAP = 1 << 16

_FORMATTING = ("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u")
_EQUAL_OPEN = 3 * len(_FORMATTING)  # at most three equal ones of a kind are remembered as open
# Finds all formatting tags with attributes, and some others: this look is taken at nearly every page.
_TAGS_WITH_ATTRIBUTES = re.compile(r"<([bcefinstuBCEFINSTU][a-zA-Z]{0,5})[\s/]").findall
_FORMATTING_TAG = re.compile(rf"</?(?:{'|'.join(_FORMATTING)})(?=[\s/>])[^>]*>?", re.IGNORECASE)

_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)""").finditer
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
_CLOSED_BY_THE_NEXT = {"p", "li", "dt", "dd", "td", "th", "tr", "option", "tbody", "thead"}
_FLAT = _VOID | _CLOSED_BY_THE_NEXT


def tame(source: str) -> str:
    """Give the part of a page's markup that can be parsed safely; all of it, for an honest page."""
    source = source[:MAX_CHARACTERS]
    tags = source.count("<")
    if tags > _MAX_BRACKETS:
        source = source[: -1 - len(source.split("<", _MAX_BRACKETS)[-1])]
        tags = _MAX_BRACKETS
    if tags * (_EQUAL_OPEN + tags) > MAX_UNFOLDED_NODES and tags * _most_open(source) > MAX_UNFOLDED_NODES:
        source = _FORMATTING_TAG.sub("", source)  # says nothing about text or links
    if tags > _HARMLESS_TAGS or len(source) > _HARMLESS_CHARACTERS or _has_long_tag(source):
        return source[: _end_of_bounds(source)]
    return source


def _most_open(source: str) -> int:
    """Bound the number of formatting elements that can be open at the same time."""
    return _EQUAL_OPEN + sum(name.lower() in _FORMATTING for name in _TAGS_WITH_ATTRIBUTES(source))


def _has_long_tag(source: str) -> bool:
    return len(source) > _HARMLESS_GAP and max(map(len, source.split("<"))) > _HARMLESS_GAP


def _end_of_bounds(source: str) -> int:
    """Find where the first tag stands that goes too deep, has too many attributes, or is one too many."""
    open_elements: Counter[str] = Counter()
    depth = 0
    for number, tag in enumerate(_TAG(source)):
        slash, name, attributes = tag.groups()
        if number >= MAX_TAGS or (len(attributes) > MAX_ATTRIBUTES and len(attributes.split()) > MAX_ATTRIBUTES):
            return tag.start()
        name = name.lower()
        if name in _FLAT:
            continue
        if not slash:
            open_elements[name] += 1
            depth += 1
        elif open_elements[name]:
            open_elements[name] -= 1
            depth -= 1
        if depth > MAX_DEPTH:
            return tag.start()
    return len(source)
