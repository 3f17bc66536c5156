"""Terms of a text: stems of words, and pairs of neighbouring characters where words are not spaced.

Chinese is cut into pairs because that needs no dictionary, treats simplified and traditional text alike, and finds
new names. Latin and other spaced scripts are cut into words; English stemming is applied to all of them, which
leaves words of other languages recognisable and equal to themselves.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain, filterfalse
from operator import add

import Stemmer

from thresher.text.stopwords import stop_words

CJK = "\u4e00-\u9fff\u3400-\u4dbf\u3005\u3007\uf900-\ufaff\u3041-\u3096\u30a1-\u30fa\u30fc\U00020000-\U0003ffff"
"""The unspaced characters (Han of all extensions, and kana), as the inside of a regular expression's brackets."""

MAX_WORD_BYTES = 64
"""Longer runs of letters are keys and encoded data, not words."""

MOST_STEMS = 1 << 17
"""Words whose stems are remembered."""

PLAIN = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256)).lower()
"""What each byte of a text becomes before it is split into words.

In bytes, because lower-casing and splitting a whole page by one table is several times faster than a regular
expression. Bytes above 127 belong to other scripts and punctuation; the few words that hold them get a second look.
"""
_RUNS = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+").findall
_UNSPACED_RUNS = re.compile(rf"[{CJK}]+").findall
_SPACED_WORDS = re.compile(rf"[^\W_{CJK}]+").findall
_STARTS_UNSPACED = re.compile(rf"[{CJK}]").match
# Full-width letters and digits, half-width kana, ligatures, compatibility Han, and accents that stand alone.
_NEEDS_FOLDING = re.compile(
    "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f\ufb00-\ufb06\uf900-\ufaff\u0300-\u036f]"
).search


def tokenize(text: str) -> list[str]:
    """Cut a text into its terms, in order, without stop words."""
    tokens: list[str] = []
    for word in _split(text):
        if not word.isascii():
            tokens += terms_of_other(word)
        elif stem := _STEMS[word]:
            tokens.append(stem)
    return tokens


def count(text: str) -> dict[str, int]:
    """Count the terms of a text: those of `tokenize`, but without a step of Python per word."""
    words = _split(text)
    counts = Counter(map(_STEMS.__getitem__, words))
    if not text.isascii():
        mixed: Iterator[bytes] = filterfalse(bytes.isascii, words)
        other = _fold(b" ".join(mixed).decode())
        counts.update(_stem(word.encode()) for word in _SPACED_WORDS(other))
        counts.update(_count_pairs(other))
    counts.pop("", None)
    return counts


def plain_term(word: bytes) -> str:
    """Give the term of an ASCII word in lower case; nothing for one that `tokenize` leaves out."""
    return _STEMS[word]


def terms_of_other(word: bytes) -> Iterator[str]:
    """Give the terms of what stands between spaces and is not all ASCII."""
    return _terms(_fold(word.decode()))


class Mentions:
    """Tells whether a text may hold one of a few terms, for a fraction of what counting all terms costs.

    Args:
        terms: What is looked for; a text that holds one is never missed.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._unspaced = [term for term in self._terms if _STARTS_UNSPACED(term)]

    def __call__(self, text: str) -> bool:
        """Look for the terms in a text."""
        words = _split(text)
        if not self._terms.isdisjoint(map(_STEMS.__getitem__, words)):
            return True
        return not text.isascii() and self._in_other_scripts(words)

    def _in_other_scripts(self, words: Iterable[bytes]) -> bool:
        mixed: Iterator[bytes] = filterfalse(bytes.isascii, words)
        other = _fold(b" ".join(mixed).decode())
        if any(map(other.__contains__, self._unspaced)):
            return True
        return not self._terms.isdisjoint(_stem(word.encode()) for word in _SPACED_WORDS(other))


def _split(text: str) -> list[bytes]:
    """Split at spaces and ASCII punctuation, in lower case as far as ASCII goes."""
    return text.encode("utf-8", "replace").translate(PLAIN).split()


def _fold(text: str) -> str:
    """Write what means the same the same way; normal forms are costly, so only where something asks for it."""
    if _NEEDS_FOLDING(text):
        text = unicodedata.normalize("NFKC", text)
    return text.lower()


def _terms(folded: str) -> Iterator[str]:
    for run in _RUNS(folded):
        if _STARTS_UNSPACED(run):
            yield from (pair for pair in _pairs(run) if pair not in _function_pairs())
        elif stem := _stem(run.encode()):
            yield stem


def _count_pairs(folded: str) -> dict[str, int]:
    counts = Counter(chain.from_iterable(map(_pairs, _UNSPACED_RUNS(folded))))  # never all pairs at once
    for pair in _function_pairs().intersection(counts):
        del counts[pair]
    return counts


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:])) if len(run) > 1 else [run]


class _Stems(dict[bytes, str]):
    """The stems of ASCII words; all others have none here, since they must be cut up first."""

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
    """Give the stem of a word in lower case; nothing for stop words, single letters and what is no word."""
    text = word.decode()
    if len(text) == 1 or len(word) > MAX_WORD_BYTES or text in stop_words("en"):
        return ""
    return str(_stemmer().stemWord(text))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", 0)  # no cache of its own: `_STEMS` is one


@cache
def _function_pairs() -> frozenset[str]:
    characters = stop_words("zh")
    return characters | {one + other for one in characters for other in characters}
