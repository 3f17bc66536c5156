"""Numbers for the terms of texts, so that what is known of terms can be kept in arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thresher.text.tokens import PLAIN, plain_term, terms_of_other
from thresher.text.word_hashes import find_words

SLOT_BITS = 18
"""Of the slots in which words are remembered as they are written; a later word takes the place of another."""
MOST_OTHERS = 1 << 13
"""Words of other scripts that are remembered too. Without spaces these are whole phrases, few of which come again."""

# Texts that are joined by a mark are looked up together: a character that is turned into a blank elsewhere.
_MARK, _MARK_WORD = " \1 ", b"\1"
_PLAIN_OR_MARK = PLAIN[:1] + _MARK_WORD + PLAIN[2:]
_NO_TERM, _END, _OTHER = 0, -1, -2
_SLOT_SHIFT = np.uint64(64 - SLOT_BITS)

Numbers = NDArray[np.int64]


class TermNumbers:
    """Numbers for the terms of texts, from 1; plain ASCII costs no step of Python per word.

    The first terms get numbers of their own. Once all are given out, a further term shares one by its hash.

    Args:
        most: How many numbers there are, 0 included, which stands for no term.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        self._hashes = np.zeros(1 << SLOT_BITS, dtype=np.uint64)
        self._remembered = np.zeros(1 << SLOT_BITS, dtype=np.int64)
        self._number_other = lru_cache(maxsize=MOST_OTHERS)(self._numbers_of_other)

    def __len__(self) -> int:
        """Return how many terms have a number of their own."""
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """Give the terms that have a number of their own, in the order of these."""
        return iter(self._numbers)

    def number(self, term: str) -> int:
        """Give the number of a term."""
        known = self._numbers.get(term)
        if known is None:
            known = len(self._numbers) + 1
            if known >= self._most:
                return crc32(term.encode("utf-8", "replace")) % (self._most - 1) + 1
            self._numbers[term] = known
        return known

    def of(self, texts: Sequence[str]) -> tuple[Numbers, Numbers]:
        """Give the numbers of the terms of some texts, those of `tokenize`, in order, and of which text each is.

        A page's texts cost much less together: all words that were met before are looked up at once.
        """
        joined = _MARK.join(texts)
        if joined.count("\1") >= len(texts) > 0:  # one of them holds what parts them
            joined = _MARK.join(text.replace("\1", " ") for text in texts)
        numbers = self._look_up(joined.encode("utf-8", "replace").translate(_PLAIN_OR_MARK))
        is_term = numbers > _NO_TERM
        return numbers[is_term], np.cumsum(numbers == _END)[is_term]

    def _look_up(self, text: bytes) -> Numbers:
        """Give the numbers of words, several for one of another script."""
        starts, ends, hashes = find_words(text)
        slots = hashes >> _SLOT_SHIFT
        numbers: Numbers = self._remembered[slots]
        new = np.flatnonzero(self._hashes[slots] != hashes)
        words = [text[start:end] for start, end in zip(starts[new].tolist(), ends[new].tolist(), strict=True)]
        numbers[new] = list(map(self._number_word, words))
        self._hashes[slots[new]], self._remembered[slots[new]] = hashes[new], numbers[new]
        others = np.flatnonzero(numbers == _OTHER)
        if not len(others):
            return numbers
        several = [self._number_other(text[starts[place] : ends[place]]) for place in others.tolist()]
        return _spell_out(numbers, others, several)

    def _number_word(self, word: bytes) -> int:
        """Give the number of a word as it is written, or what else it stands for."""
        if not word.isascii():
            return _OTHER
        term = plain_term(word)
        return self.number(term) if term else _END if word == _MARK_WORD else _NO_TERM

    def _numbers_of_other(self, word: bytes) -> tuple[int, ...]:
        return tuple(map(self.number, terms_of_other(word)))


def _spell_out(numbers: Numbers, places: NDArray[np.intp], several: Sequence[Sequence[int]]) -> Numbers:
    """Put several numbers where there is one."""
    sizes = np.ones(len(numbers), dtype=np.intp)
    sizes[places] = list(map(len, several))
    spelled: Numbers = np.repeat(numbers, sizes)
    spelled[spelled == _OTHER] = list(chain.from_iterable(several))
    return spelled
