"""Pairs of neighbouring characters where words are not spaced, those of a whole text at once.

Chinese pages would cost several times what others do if each pair took a step of Python. So a text becomes an array of
code points, and a pair one number: that of its first character, and above it that of its second. Numpy reads such a
number as the two characters that it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from thresher.text.characters import ACCENTS, FOLDED, UNSPACED, Range
from thresher.text.stopwords import stop_words

CODE_POINTS = 0x110000
_SECOND = np.uint64(32)
_SPELLED = "<U2"

Codes = NDArray[np.uint32]
Places = NDArray[np.intp]
Pairs = NDArray[np.uint64]


def code_points(text: str) -> Codes:
    """Give the characters of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def find_pairs(codes: Codes) -> tuple[Places, Pairs]:
    """Give where pairs begin, and the pairs, in order; those of function characters are left out.

    A character without a neighbour counts as a pair that has no second.
    """
    unspaced = _unspaced()[codes]
    next_too = np.zeros(len(codes), dtype=np.bool_)
    next_too[:-1] = unspaced[:-1] & unspaced[1:]
    alone = unspaced & ~next_too
    alone[1:] &= ~next_too[:-1]
    places = np.flatnonzero(next_too | alone)
    first, second = codes[places], np.where(next_too[places], codes[(places + 1) % max(len(codes), 1)], 0)
    says = ~(_function()[first] & _function()[second])
    pairs: Pairs = first[says] | second[says].astype(np.uint64) << _SECOND
    return places[says], pairs


def spelled(pairs: Pairs) -> list[str]:
    """Write pairs as text."""
    names: list[str] = np.ascontiguousarray(pairs, dtype="<u8").view(_SPELLED).tolist()
    return names


def count_pairs(text: str) -> dict[str, int]:
    """Count the pairs of a text."""
    pairs, times = np.unique(find_pairs(code_points(text))[1], return_counts=True)
    return dict(zip(spelled(pairs), times.tolist(), strict=True))


def needs_folding(text: str) -> bool:
    """Tell whether a text holds characters that mean the same as others."""
    return bool(_folded()[code_points(text)].any())


@cache
def _unspaced() -> NDArray[np.bool_]:
    return _those_in(UNSPACED)


@cache
def _folded() -> NDArray[np.bool_]:
    return _those_in([*FOLDED, *ACCENTS])


def _those_in(ranges: Iterable[Range]) -> NDArray[np.bool_]:
    """Tell of each code point whether it lies in one of some ranges."""
    table = np.zeros(CODE_POINTS, dtype=np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


@cache
def _function() -> NDArray[np.bool_]:
    """Tell of each code point whether it says nothing about a topic; 0 stands for a second that is not there."""
    table = np.zeros(CODE_POINTS, dtype=np.bool_)
    table[[0, *map(ord, stop_words("zh"))]] = True
    return table
