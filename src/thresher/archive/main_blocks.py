"""The main text of a page by a rule over its blocks: needs no second parser, and takes no time that a page could set.

The decision is that of Kohlschütter, Fankhauser and Nejdl, Boilerplate Detection using Shallow Text Features, WSDM
2010: how many words a block has, how much of it is anchors, and the same of its neighbours. The blocks are those that
the parser has found already.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from thresher.records import ParsedPage
from thresher.text.tokens import CJK

MOST_LINKED = 1 / 3
"""A block of which more than this is anchors is a list of links."""

_MUCH_LINKED = 0.555556  # of the block before: what follows a menu is often another
_FEW_WORDS, _FEW_AFTER, _FEW_BEFORE = 16, 15, 4
_FEW_WORDS_AFTER_MENU, _FEW_AFTER_MENU = 40, 17
_UNSPACED = re.compile(rf"[{CJK}]").findall


@dataclass(frozen=True, slots=True)
class _Shape:
    """A block as the rule sees it."""

    words: float = 0.0
    linked: float = 0.0


def main_blocks(page: ParsedPage) -> str:
    """Give the blocks of a page that are meant to be read, one per line; nothing when no block is."""
    shapes = _shapes(page)
    around = [_Shape(), *shapes, _Shape()]
    chosen = [
        " ".join(text.split())
        for text, before, here, after in zip(page.blocks, around, shapes, around[2:], strict=False)
        if _is_content(before, here, after)
    ]
    return "\n".join(chosen)


def _shapes(page: ParsedPage) -> Sequence[_Shape]:
    anchors = [0] * len(page.blocks)
    for link in page.links:
        if 0 <= link.block < len(anchors):
            anchors[link.block] += len(link.anchor)
    return [
        _Shape(_words(text), min(1.0, linked / len(text)) if text else 0.0)
        for text, linked in zip(page.blocks, anchors, strict=True)
    ]


def _is_content(before: _Shape, here: _Shape, after: _Shape) -> bool:
    if here.linked > MOST_LINKED:
        return False
    if before.linked > _MUCH_LINKED:
        return here.words > _FEW_WORDS_AFTER_MENU or after.words > _FEW_AFTER_MENU
    return here.words > _FEW_WORDS or after.words > _FEW_AFTER or before.words > _FEW_BEFORE


def _words(text: str) -> float:
    """Count words; where they are not spaced, two characters are about one."""
    words = len(text.split())
    return words if text.isascii() else words + len(_UNSPACED(text)) / 2
