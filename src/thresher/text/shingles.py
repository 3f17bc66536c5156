"""Shingles: hashes of adjacent words, to compare texts."""

from __future__ import annotations

from operator import sub
from zlib import crc32

MAX_BYTES = 2_000
"""Text beyond this is ignored: this much is enough to compare pages."""

_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_MAX_MEAN_WORD_BYTES = 14
"""Where words are longer than this on average, in bytes, the script is unspaced, such as Chinese."""


def word_pairs(text: str) -> set[int]:
    """Return the hashes of adjacent words; digits are treated as equal, so that numbered pages are similar.

    In unspaced scripts, character trigrams are used. The hashes are the same in every process.
    """
    data = text[:MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES].translate(_DIGITS_TO_ZERO)
    words = data.split()
    if len(words) * _MAX_MEAN_WORD_BYTES < len(data):
        written = "".join(data.decode("utf-8", "ignore").split())
        return {crc32(written[start : start + 3].encode()) for start in range(len(written) - 2)}
    numbers = list(map(crc32, words))
    return set(map(sub, numbers, numbers[1:]))
