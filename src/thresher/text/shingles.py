"""Pairs of neighbouring words as numbers, by which two texts are known to be alike."""

from __future__ import annotations

from operator import sub
from zlib import crc32

MAX_BYTES = 2_000
"""Text beyond this is not looked at: so much tells whether a page says anything new."""

_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONGEST_WORDS = 14
"""Where words are longer than this on the average, in bytes, they are not parted by spaces: Chinese, for one."""


def word_pairs(text: str) -> set[int]:
    """Number the pairs of neighbouring words; digits are all the same, so that a counted page is like the next one.

    Of languages that do not part their words, three neighbouring characters count as one word. The numbers are the
    same in every process.
    """
    data = text[:MAX_BYTES].encode("utf-8", "replace")[:MAX_BYTES].translate(_DIGITS_TO_ZERO)
    words = data.split()
    if len(words) * _LONGEST_WORDS < len(data):
        written = "".join(data.decode("utf-8", "ignore").split())
        return {crc32(written[start : start + 3].encode()) for start in range(len(written) - 2)}
    numbers = list(map(crc32, words))
    return set(map(sub, numbers, numbers[1:]))
