"""Character bigrams of unspaced scripts, vectorized with numpy.

With a Python loop over bigrams, Chinese pages would cost several times as much as others. So a text becomes an array of
code points, and a bigram one integer: the first character in the low 32 bits, the second one in the high 32 bits. Numpy
can view such an integer as a string of two characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.text.char_ranges import ACCENTS, FOLDED, UNSPACED, UNSPACED_IN, Range
from thresher.text.stopwords import stop_words

CODE_POINTS = 0x110000
_SECOND = np.uint64(32)
_SPELLED = "<U2"

Codes = NDArray[np.uint32]
Places = NDArray[np.intp]
Pairs = NDArray[np.uint64]


def code_points(text: str) -> Codes:
    """Return the code points of a text."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def find_pairs(text: str, language: str = "") -> tuple[Places, Pairs]:
    """Return positions and bigrams, in order; those of two function characters are left out.

    A single unspaced character counts as a bigram without a second character.
    """
    if compiled:
        return compiled.find_pairs(text, _unspaced(language).view(np.uint8), _function().view(np.uint8))
    codes = code_points(text)
    unspaced = _unspaced(language)[codes]
    next_too = np.zeros(len(codes), dtype=np.bool_)
    next_too[:-1] = unspaced[:-1] & unspaced[1:]
    alone = unspaced & ~next_too
    alone[1:] &= ~next_too[:-1]
    places = np.flatnonzero(next_too | alone)
    first, second = codes[places], np.where(next_too[places], codes[(places + 1) % max(len(codes), 1)], 0)
    kept = ~(_function()[first] & _function()[second])
    pairs: Pairs = first[kept] | second[kept].astype(np.uint64) << _SECOND
    return places[kept], pairs


def spelled(pairs: Pairs) -> list[str]:
    """Return bigrams as text."""
    names: list[str] = np.ascontiguousarray(pairs, dtype="<u8").view(_SPELLED).tolist()
    return names


def count_pairs(text: str, language: str = "") -> dict[str, int]:
    """Count the bigrams of a text."""
    pairs, times = np.unique(find_pairs(text, language)[1], return_counts=True)
    return dict(zip(spelled(pairs), times.tolist(), strict=True))


def needs_folding(text: str) -> bool:
    """Return whether a text contains characters that must be normalized."""
    return bool(_folded()[code_points(text)].any())


@cache
def _unspaced(language: str) -> NDArray[np.bool_]:
    return _those_in([*UNSPACED, *UNSPACED_IN[language]]) if language else _those_in(UNSPACED)


@cache
def _folded() -> NDArray[np.bool_]:
    return _those_in([*FOLDED, *ACCENTS])


def _those_in(ranges: Iterable[Range]) -> NDArray[np.bool_]:
    """Return for each code point whether it is in one of the ranges."""
    table = np.zeros(CODE_POINTS, dtype=np.bool_)
    for first, last in ranges:
        table[first : last + 1] = True
    return table


@cache
def _function() -> NDArray[np.bool_]:
    """Return for each code point whether it is a function character; 0 is a missing second character."""
    table = np.zeros(CODE_POINTS, dtype=np.bool_)
    table[[0, *map(ord, stop_words("zh"))]] = True
    return table
