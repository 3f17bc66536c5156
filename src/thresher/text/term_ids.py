"""Integer ids of terms, so that data about terms can be stored in arrays.

Words are found and hashed with numpy, without a Python loop over words.

`find_pairs` finds character bigrams of unspaced scripts, vectorized with numpy.

With a Python loop over bigrams, Chinese pages would cost several times as much as others. So a text becomes an array of
code points, and a bigram one integer: the first character in the low 32 bits, the second one in the high 32 bits. Numpy
can view such an integer as a string of two characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache, partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.text.char_ranges import ACCENTS, FOLDED, UNSPACED, UNSPACED_IN, Range
from thresher.text.stopwords import stop_words
from thresher.text.tokens import MAX_LANGUAGES, PLAIN, LanguageTerms, fold, stemmed_as, terms_in

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


SPACE = 32
EIGHT = 8
MAX_HASHED_BYTES = 64
"""Bytes of a word that enter its hash, besides its length."""

Hashes = NDArray[np.uint64]

_FIRST_BYTES = np.array([(1 << 8 * count) - 1 for count in range(EIGHT + 1)], dtype=np.uint64)
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def find_words(text: bytes) -> tuple[Places, Places, Hashes]:
    """Return start, end and hash of each word of a text that is separated by blanks.

    Hashes of words of up to eight bytes never collide, and others hardly ever: eight bytes at a time are multiplied and
    shifted, and both steps are invertible.
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
    while len(longer) and done < MAX_HASHED_BYTES:
        more = eights[starts[longer] + done] & _FIRST_BYTES[np.minimum(sizes[longer] - done, EIGHT)]
        hashes[longer] = mixed(hashes[longer] ^ more)
        done += EIGHT
        longer = longer[sizes[longer] > done]
    return hashes


def mixed(values: Hashes) -> Hashes:
    """Mix the bits of integers; the function is injective."""
    values = values * _FACTOR
    spread: Hashes = (values ^ (values >> _SHIFT)) * _FACTOR
    return spread


SLOT_BITS = 18
"""Size of the cache of words, as a power of two; a later word replaces another in its slot."""

# Texts are joined by a mark and looked up together; inside texts the character of the mark becomes a blank.
_MARK, _MARK_WORD = " \1 ", b"\1"
_PLAIN_OR_MARK = PLAIN[:1] + _MARK_WORD + PLAIN[2:]
_NO_TERM, _END, _OTHER = 0, -1, -2
_SLOT_SHIFT = np.uint64(64 - SLOT_BITS)
_PAIRS = "bigrams"

Numbers = NDArray[np.int64]


class TermNumbers:
    """Ids of terms, from 1; known words and bigrams are looked up without a Python loop.

    The first terms get unique ids. Once all are assigned, further terms share ids by their hash.

    Args:
        most: Number of ids, including 0, which means no term.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        self._terms: list[str] = []
        self._caches = lru_cache(maxsize=MAX_LANGUAGES)(_NumberCache)

    def __len__(self) -> int:
        """Return the number of terms with a unique id."""
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the terms with a unique id, in the order of the ids."""
        return iter(self._terms)

    def terms_from(self, start: int) -> list[str]:
        """Return the terms with a unique id that were added after the first `start` terms."""
        return self._terms[start:]

    def number(self, term: str) -> int:
        known = self._numbers.get(term)
        if known is None:
            known = len(self._numbers) + 1
            if known >= self._most:
                return crc32(term.encode("utf-8", "replace")) % (self._most - 1) + 1
            self._numbers[term] = known
            self._terms.append(term)
        return known

    def of(self, texts: Sequence[str], language: str = "") -> tuple[Numbers, Numbers]:
        """Return the ids of the terms (as of `tokenize`) of some texts, in order, and the index of each term's text.

        Looking up all texts of a page together is much cheaper.
        """
        joined = _MARK.join(texts)
        if joined.count("\1") >= len(texts) > 0:  # one of them contains the separator
            joined = _MARK.join(text.replace("\1", " ") for text in texts)
        numbers = self._look_up(joined.encode("utf-8", "replace").translate(_PLAIN_OR_MARK), language)
        if compiled:
            return compiled.split_by_text(numbers)
        is_term = numbers > _NO_TERM
        return numbers[is_term], np.cumsum(numbers == _END)[is_term]

    def _look_up(self, text: bytes, language: str) -> Numbers:
        """Return the ids of words, several for a word of another script."""
        cache, terms = self._caches(stemmed_as(language)), terms_in(language)
        number_word = partial(self._number_word, terms)
        if compiled:
            numbers, words_of_others = compiled.number_words(
                text, cache.hashes, cache.numbers, int(_SLOT_SHIFT), number_word
            )
            if not words_of_others:
                return numbers
            return self._spell_out(numbers, np.flatnonzero(numbers == _OTHER), words_of_others, terms)
        starts, ends, hashes = find_words(text)

        def words(places: Places) -> list[bytes]:
            return [text[start:end] for start, end in zip(starts[places].tolist(), ends[places].tolist(), strict=True)]

        numbers = cache.look_up(hashes, lambda new: map(number_word, words(new)))
        others = np.flatnonzero(numbers == _OTHER)
        return self._spell_out(numbers, others, words(others), terms) if len(others) else numbers

    def _number_word(self, terms: LanguageTerms, word: bytes) -> int:
        """Return the id of a word, or a negative marker."""
        if not word.isascii():
            return _OTHER
        term = terms.stems[word]
        return self.number(term) if term else _END if word == _MARK_WORD else _NO_TERM

    def _spell_out(self, numbers: Numbers, others: Places, words: Sequence[bytes], language: LanguageTerms) -> Numbers:
        """Replace each word of another script by the ids of its terms."""
        folded = fold(b" ".join(words).decode())
        places, pairs = find_pairs(folded, language.pairs_in)
        of_pairs = self._caches(_PAIRS).look_up(mixed(pairs), lambda new: map(self.number, spelled(pairs[new])))
        spaced = list(language.find_spaced(folded))
        places = np.concatenate([places, np.array([place for place, _ in spaced], dtype=np.intp)])
        order, word = np.argsort(places), np.cumsum(code_points(folded) == SPACE)
        terms = np.concatenate([of_pairs, np.array([self.number(term) for _, term in spaced], dtype=np.int64)])
        sizes = np.ones(len(numbers), dtype=np.intp)
        sizes[others] = np.bincount(word[places], minlength=len(others))
        spelled_out: Numbers = np.repeat(numbers, sizes)
        spelled_out[spelled_out == _OTHER] = terms[order]
        return spelled_out


class _NumberCache:
    """The ids of the words of one language, or of bigrams, by their hashes.

    Args:
        name: Whose ids these are.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.hashes = np.zeros(1 << SLOT_BITS, dtype=np.uint64)
        self.numbers = np.zeros(1 << SLOT_BITS, dtype=np.int64)

    def look_up(self, hashes: Hashes, work_out: Callable[[Places], Iterable[int]]) -> Numbers:
        """Return ids by hash; `work_out` computes those at the positions of new hashes."""
        slots = hashes >> _SLOT_SHIFT
        numbers: Numbers = self.numbers[slots]
        new = np.flatnonzero(self.hashes[slots] != hashes)
        numbers[new] = list(work_out(new))
        self.hashes[slots[new]], self.numbers[slots[new]] = hashes[new], numbers[new]
        return numbers
