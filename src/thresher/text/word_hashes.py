"""The words of a text, found and told apart all at once, without a step of Python per word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SPACE = 32
EIGHT = 8
LONGEST = 64
"""Bytes of a word that tell it from others, besides how many it has."""

Places = NDArray[np.intp]
Hashes = NDArray[np.uint64]

_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(EIGHT + 1)], dtype=np.uint64)
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def find_words(text: bytes) -> tuple[Places, Places, Hashes]:
    """Give where words begin and end in a text that is spaced by blanks, and a hash of each.

    Words of up to eight bytes never share a hash, and others next to never: eight bytes at a time are multiplied and
    shifted, which both can be undone.
    """
    padded = b" " + text + b" " * EIGHT
    letters = np.frombuffer(padded, dtype=np.uint8) != SPACE
    edges = np.flatnonzero(letters[1:] != letters[:-1])
    starts, ends = edges[::2], edges[1::2]
    return starts, ends, _hashes(padded, starts + 1, ends - starts)


def _hashes(padded: bytes, starts: Places, sizes: Places) -> Hashes:
    eights: Hashes = np.ndarray((len(padded) - EIGHT + 1,), dtype="<u8", buffer=padded, strides=(1,))
    hashes = mixed(eights[starts] & _FIRST_BYTES[np.minimum(sizes, EIGHT)])
    longer, done = np.flatnonzero(sizes > EIGHT), EIGHT
    hashes[longer] ^= sizes[longer].astype(np.uint64)
    while len(longer) and done < LONGEST:
        more = eights[starts[longer] + done] & _FIRST_BYTES[np.minimum(sizes[longer] - done, EIGHT)]
        hashes[longer] = mixed(hashes[longer] ^ more)
        done += EIGHT
        longer = longer[sizes[longer] > done]
    return hashes


def mixed(values: Hashes) -> Hashes:
    """Spread numbers over all bits; different ones stay different."""
    values = values * _FACTOR
    spread: Hashes = (values ^ (values >> _SHIFT)) * _FACTOR
    return spread
