"""Numbers for the terms of texts, so that what is known of terms can be kept in arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thresher.text.pairs import Places, code_points, find_pairs, spelled
from thresher.text.tokens import PLAIN, find_spaced, fold, plain_term
from thresher.text.word_hashes import SPACE, Hashes, find_words, mixed

SLOT_BITS = 18
"""Of the slots in which words are remembered as they are written; a later word takes the place of another."""

# Texts that are joined by a mark are looked up together: a character that is turned into a blank elsewhere.
_MARK, _MARK_WORD = " \1 ", b"\1"
_PLAIN_OR_MARK = PLAIN[:1] + _MARK_WORD + PLAIN[2:]
_NO_TERM, _END, _OTHER = 0, -1, -2
_SLOT_SHIFT = np.uint64(64 - SLOT_BITS)
_PAIR = np.uint64(1 << 63)
"""Tells a pair of characters from a word that is written in the same bytes."""

Numbers = NDArray[np.int64]


class TermNumbers:
    """Numbers for the terms of texts, from 1; no word or pair that was met before costs a step of Python.

    The first terms get numbers of their own. Once all are given out, a further term shares one by its hash.

    Args:
        most: How many numbers there are, 0 included, which stands for no term.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        self._hashes = np.zeros(1 << SLOT_BITS, dtype=np.uint64)
        self._remembered = np.zeros(1 << SLOT_BITS, dtype=np.int64)

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

        def words(places: Places) -> list[bytes]:
            return [text[start:end] for start, end in zip(starts[places].tolist(), ends[places].tolist(), strict=True)]

        numbers = self._remember(hashes, lambda new: map(self._number_word, words(new)))
        others = np.flatnonzero(numbers == _OTHER)
        return self._spell_out(numbers, others, words(others)) if len(others) else numbers

    def _remember(self, hashes: Hashes, work_out: Callable[[Places], Iterable[int]]) -> Numbers:
        """Give numbers by hashes; those of new ones, which stand at some places, are worked out one by one."""
        slots = hashes >> _SLOT_SHIFT
        numbers: Numbers = self._remembered[slots]
        new = np.flatnonzero(self._hashes[slots] != hashes)
        numbers[new] = list(work_out(new))
        self._hashes[slots[new]], self._remembered[slots[new]] = hashes[new], numbers[new]
        return numbers

    def _number_word(self, word: bytes) -> int:
        """Give the number of a word as it is written, or what else it stands for."""
        if not word.isascii():
            return _OTHER
        term = plain_term(word)
        return self.number(term) if term else _END if word == _MARK_WORD else _NO_TERM

    def _spell_out(self, numbers: Numbers, others: Places, words: Sequence[bytes]) -> Numbers:
        """Put the numbers of its terms where a word of another script stands."""
        folded = fold(b" ".join(words).decode())
        codes = code_points(folded)
        places, pairs = find_pairs(codes)
        of_pairs = self._remember(mixed(pairs | _PAIR), lambda new: map(self.number, spelled(pairs[new])))
        spaced = list(find_spaced(folded))
        places = np.concatenate([places, np.array([place for place, _ in spaced], dtype=np.intp)])
        order, word = np.argsort(places), np.cumsum(codes == SPACE)
        terms = np.concatenate([of_pairs, np.array([self.number(term) for _, term in spaced], dtype=np.int64)])
        sizes = np.ones(len(numbers), dtype=np.intp)
        sizes[others] = np.bincount(word[places], minlength=len(others))
        spelled_out: Numbers = np.repeat(numbers, sizes)
        spelled_out[spelled_out == _OTHER] = terms[order]
        return spelled_out
