"""Tokenization: word stems, and character bigrams in scripts without spaces.

Chinese is split into bigrams because that needs no dictionary, treats simplified and traditional text alike, and finds
new names. Latin and other spaced scripts are split into words. English stemming is applied to all of them, which
leaves words of other languages recognisable and equal to themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from itertools import filterfalse, pairwise
from types import ModuleType

import Stemmer

from thresher.native import compiled
from thresher.text.char_ranges import ACCENTS, FOLDED, UNSPACED, inside
from thresher.text.stopwords import stop_words

CJK = inside(UNSPACED)
"""The characters of unspaced scripts, as a regular expression's character class without brackets."""

MAX_WORD_BYTES = 64
"""Longer runs of letters are keys and encoded data, not words."""

MOST_STEMS = 1 << 17
"""Cache size for stems."""

PLAIN = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256)).lower()
"""Translation table of bytes, applied before a text is split into words.

Lower-casing and splitting the bytes of a whole page by one table is several times faster than a regular expression.
Bytes above 127 belong to other scripts and punctuation; the few words that contain them are processed further.
"""
_SPACED_WORD = re.compile(rf"[^\W_{CJK}]+").finditer
_SPACED_WORDS = re.compile(rf"[^\W_{CJK}]+").findall
_STARTS_UNSPACED = re.compile(rf"[{CJK}]").match
_FOLD_EACH = re.compile(f"[{inside(FOLDED)}]+|.?[{inside(ACCENTS)}]+", re.DOTALL).sub


def tokenize(text: str) -> list[str]:
    """Return the terms of a text, in order, without stop words."""
    words = _split(text)
    if text.isascii():
        return [stem for word in words if (stem := _STEMS[word])]
    folded = fold(b" ".join(words).decode())
    places, pairs = _pairs().find_pairs(folded)
    terms = [*zip(places.tolist(), _pairs().spelled(pairs), strict=True), *find_spaced(folded)]
    return [term for _, term in sorted(terms)]


def count(text: str) -> dict[str, int]:
    """Count the terms of a text, as `tokenize` returns them, without a Python loop over words."""
    if _COUNTER:
        counts, others = _COUNTER.count(_plain(text))
    else:
        words = _split(text)
        counts = Counter(map(_STEMS.__getitem__, words))
        counts.pop("", None)
        others = b"" if text.isascii() else _join_others(words)
    return {**counts, **_count_others(fold(others.decode()), counts)} if others else counts


def _count_others(text: str, counts: Mapping[str, int]) -> dict[str, int]:
    """Count the terms of words that are not all ASCII; a term of a spaced script may have been counted before."""
    spaced = Counter(filter(None, (_stem(word.encode()) for word in _SPACED_WORDS(text))))
    return {**{term: counts.get(term, 0) + times for term, times in spaced.items()}, **_pairs().count_pairs(text)}


def adjacent(text: str, words: dict[str, str]) -> list[tuple[str, str]]:
    """Return the wanted terms of a text that stand beside each other, as pairs of words, in order.

    Args:
        text: The text; terms are those of `tokenize`.
        words: From the wanted terms to the words that they stand for.
    """
    if _COUNTER and text.isascii():
        return _COUNTER.adjacent(_plain(text), words)
    found = [words.get(term) for term in tokenize(text)]
    return [(a, b) for a, b in pairwise(found) if a is not None and b is not None]


def plain_term(word: bytes) -> str:
    """Return the term of a lower-case ASCII word; empty for one that `tokenize` leaves out."""
    return _STEMS[word]


class Mentions:
    """A fast filter for texts that may contain one of a few terms, much cheaper than counting all terms.

    Args:
        terms: The terms; there are false positives, but no false negatives.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._unspaced = [term for term in self._terms if _STARTS_UNSPACED(term)]

    def __call__(self, text: str) -> bool:
        words = _split(text)
        if not self._terms.isdisjoint(map(_STEMS.__getitem__, words)):
            return True
        return not text.isascii() and self._in_other_scripts(words)

    def _in_other_scripts(self, words: Iterable[bytes]) -> bool:
        other = fold(_join_others(words).decode())
        if any(map(other.__contains__, self._unspaced)):
            return True
        return not self._terms.isdisjoint(_stem(word.encode()) for word in _SPACED_WORDS(other))


def _split(text: str) -> list[bytes]:
    """Split at spaces and ASCII punctuation, with ASCII letters in lower case."""
    return _plain(text).split()


def _plain(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(PLAIN)


def _join_others(words: Iterable[bytes]) -> bytes:
    """Join the words that are not all ASCII."""
    others: Iterator[bytes] = filterfalse(bytes.isascii, words)
    return b" ".join(others)


def fold(text: str) -> str:
    """Normalize equivalent characters and case; NFKC is costly, so it is applied only where needed."""
    if not text.isascii() and _pairs().needs_folding(text):
        text = _FOLD_EACH(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return text.lower()


def find_spaced(folded: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the term of each word of a spaced script, in order."""
    for found in _SPACED_WORD(folded):
        if stem := _stem(found[0].encode()):
            yield found.start(), stem


@cache
def _pairs() -> ModuleType:
    """Import the module that needs numpy lazily: a command that prints its help needs none."""
    return import_module("thresher.text.bigrams")


class _Stems(dict[bytes, str]):
    """A cache of stems of ASCII words; all other words map to "", since they must be split first."""

    def __missing__(self, word: bytes) -> str:
        if not word.isascii():
            return ""
        if len(self) >= MOST_STEMS:
            self.clear()
        stem = self[word] = _stem(word)
        return stem


_STEMS = _Stems()


@lru_cache(maxsize=1 << 16)
def _stem(word: bytes) -> str:
    """Return the stem of a lower-case word; empty for stop words, single letters and overlong words."""
    text = word.decode()
    if len(text) == 1 or len(word) > MAX_WORD_BYTES or text in stop_words("en"):
        return ""
    return str(_stemmer().stemWord(text))


_COUNTER = compiled.WordCounter(_stem, MOST_STEMS) if compiled else None


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)  # without its own cache: `_STEMS` is one
