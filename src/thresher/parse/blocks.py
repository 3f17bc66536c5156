"""Content blocks: the parts of a page that are each about something of their own; LPE, section 4.

A text or a link belongs to the deepest block element around it. A heading belongs to what follows it. A block of a few
words joins the next one beside it, the last the one before: a cell of a table is no block of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from thresher.parse.walk import HeadingElement, Walk
from thresher.text.tokens import CJK

LEAST_TOKENS = 10
"""Words, or unspaced characters, that a block needs to stand for itself."""

_LONG_CHARACTERS = 100  # holds ten tokens of ordinary length, so nobody counts them
_UNSPACED = re.compile(rf"[{CJK}]").search


@dataclass(frozen=True, slots=True)
class Blocks:
    """The content blocks of a page.

    Args:
        texts: Their texts.
        numbers: For each block element of the walk, which of the texts it went into; -1 for one with nothing in it.
    """

    texts: tuple[str, ...]
    numbers: Sequence[int]


def read_blocks(found: Walk) -> Blocks:
    """Part the text that a walk found into blocks."""
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
    """Give the pieces of every block, those of headings before the text that follows them."""
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
    """Copy a block before its first change: the walk's own pieces are still needed for the words around links."""
    if blocks[number] is found.blocks[number]:
        blocks[number] = [*found.blocks[number]]
    return blocks[number]


def _joined(used: Sequence[int], texts: Sequence[str], outer: Sequence[int]) -> list[list[int]]:
    """Put blocks of too few tokens together with the one that follows, or with the one before."""
    ends = _ends(outer)
    groups: list[list[int]] = []
    small: list[int] = []
    tokens = 0
    for number, following in pairwise([*used, len(outer)]):
        small.append(number)
        text = texts[number]
        tokens += LEAST_TOKENS if len(text) >= _LONG_CHARACTERS else _count(text)
        if tokens >= LEAST_TOKENS:
            groups.append(small)
        elif (
            not groups
            or following <= ends[outer[number]]  # mostly it is the next cell of a table
            or _is_nearer(number, following, groups[-1][-1], outer, ends)
        ):
            continue
        else:
            groups[-1] += small
        small, tokens = [], 0
    return [*groups, small] if small else groups


def _ends(outer: Sequence[int]) -> list[int]:
    """Give the last block inside each."""
    ends = list(range(len(outer)))
    for number in range(len(outer) - 1, 0, -1):
        end, around = ends[number], outer[number]
        if end > ends[around]:
            ends[around] = end
    return ends


def _is_nearer(number: int, following: int, before: int, outer: Sequence[int], ends: Sequence[int]) -> bool:
    """Tell whether the smallest element around a block that holds a neighbour holds the one that follows."""
    around = outer[number]  # or a block inside it, which is inside this too
    while following > ends[around] and before < around:
        around = outer[around]
    return following <= ends[around]


def _count(text: str) -> int:
    """Count words and, roughly, unspaced characters: those that take three bytes instead of one."""
    if text.isascii() or not _UNSPACED(text):
        return len(text.split())
    return len(text.split()) + (len(text.encode("utf-8", "replace")) - len(text)) // 2
