"""Tokenization: word stems, and character bigrams in scripts without spaces.

Chinese, Japanese, Korean and Thai are split into bigrams because that needs no dictionary, treats simplified and
traditional text alike, and finds new names. Other scripts are split into words, which are stemmed and from which stop
words are left out as the language of the text requires. A language without a stemmer, and a text of unknown language,
is stemmed as English, which leaves other words recognisable and equal to themselves.

Shingles: hashes of adjacent words, to compare texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import filterfalse, pairwise
from operator import sub
from types import ModuleType
from zlib import crc32

import Stemmer

from thresher.native import compiled
from thresher.text.char_ranges import ACCENTS, FOLDED, UNSPACED, UNSPACED_IN, inside
from thresher.text.stopwords import stop_words

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


CJK = inside(UNSPACED)
"""The characters of unspaced scripts, as a regular expression's character class without brackets."""

MAX_WORD_BYTES = 64
"""Longer runs of letters are keys and encoded data, not words."""

MAX_STEMS = 1 << 17
"""Cache size for stems."""

PLAIN = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256)).lower()
"""Translation table of bytes, applied before a text is split into words.

Lower-casing and splitting the bytes of a whole page by one table is several times faster than a regular expression.
Bytes above 127 belong to other scripts and punctuation; the few words that contain them are processed further.
"""
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""The Snowball stemmer of each language that has one."""
MAX_LANGUAGES = 8
"""How many languages have a cache of stems."""

_VOWEL_SIGNS = "\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0b82\u0bbe-\u0bcd"  # parts of Indic words, but no letters
_STARTS_UNSPACED = re.compile(rf"[{CJK}{''.join(map(inside, UNSPACED_IN.values()))}]").match
_FOLD_EACH = re.compile(f"[{inside(FOLDED)}]+|.?[{inside(ACCENTS)}]+", re.DOTALL).sub


def tokenize(text: str, language: str = "") -> list[str]:
    """Return the terms of a text, in order, without stop words."""
    words, terms = _split(text), terms_in(language)
    if text.isascii():
        return [stem for word in words if (stem := terms.stems[word])]
    folded = fold(b" ".join(words).decode())
    places, pairs = _pairs().find_pairs(folded, terms.pairs_in)
    found = [*zip(places.tolist(), _pairs().spelled(pairs), strict=True), *terms.find_spaced(folded)]
    return [term for _, term in sorted(found)]


def count(text: str, language: str = "") -> dict[str, int]:
    """Count the terms of a text, as `tokenize` returns them, without a Python loop over words."""
    terms = terms_in(language)
    if compiled and terms.counter:
        counts, others = terms.counter.count(_plain(text))
    else:
        words = _split(text)
        counts = Counter(map(terms.stems.__getitem__, words))
        counts.pop("", None)
        others = b"" if text.isascii() else _join_others(words)
    if not others:
        return counts
    folded = fold(others.decode())
    pairs = _pairs().count_pairs(folded, terms.pairs_in)
    spaced = Counter(term for _, term in terms.find_spaced(folded))  # some may have been counted before
    return {**counts, **{term: counts.get(term, 0) + n for term, n in spaced.items()}, **pairs}


def adjacent(text: str, words: dict[str, str], language: str = "") -> list[tuple[str, str]]:
    """Return the wanted terms of a text that stand beside each other, as pairs of words, in order.

    Args:
        text: The text; terms are those of `tokenize`.
        words: From the wanted terms to the words that they stand for.
    """
    terms = terms_in(language)
    if compiled and terms.counter and text.isascii():
        return terms.counter.adjacent(_plain(text), words)
    found = [words.get(term) for term in tokenize(text, language)]
    return [(a, b) for a, b in pairwise(found) if a is not None and b is not None]


def is_bigram(term: str) -> bool:
    """Return whether a term is a bigram of a script without spaces, or a single character of one."""
    return _STARTS_UNSPACED(term) is not None


class Mentions:
    """A fast filter for texts that may contain one of a few terms, much cheaper than counting all terms.

    Args:
        terms: The terms; there are false positives, but no false negatives.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._unspaced = [term for term in self._terms if is_bigram(term)]

    def __call__(self, text: str, language: str = "") -> bool:
        words, terms = _split(text), terms_in(language)
        if not self._terms.isdisjoint(map(terms.stems.__getitem__, words)):
            return True
        if text.isascii():
            return False
        other = fold(_join_others(words).decode())
        return any(map(other.__contains__, self._unspaced)) or not self._terms.isdisjoint(
            term for _, term in terms.find_spaced(other)
        )


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


@cache
def _pairs() -> ModuleType:
    """Import the module that needs numpy lazily: a command that prints its help needs none."""
    return import_module("thresher.text.term_ids")


def _words_in(language: str) -> Callable[[str], Iterator[re.Match[str]]]:
    """Return what finds the words of a text; it is compiled on use, for commands that read no text wait for it too."""
    if language in ("hi", "ne", "ta"):
        return re.compile(rf"(?:[^\W_{CJK}]|[{_VOWEL_SIGNS}])+").finditer
    return re.compile(rf"[^\W_{CJK}{inside(UNSPACED_IN.get(language, ()))}]+").finditer


class LanguageTerms:
    """The terms of words of one language, with a cache of them."""

    def __init__(self, language: str) -> None:
        self._stop_words = stop_words("en" if language in UNSPACED_IN else language)
        self._stemmer = Stemmer.Stemmer(STEMMERS.get(language, "english"), 0)  # without its own cache: `stems` is one
        self._words = _words_in(language)
        self.pairs_in = language if language in UNSPACED_IN else ""
        """The language by which characters are split into bigrams; empty for most languages."""
        self._stem = lru_cache(maxsize=1 << 16)(self._stem_word)
        self.stems = _Stems(self._stem)
        """The terms of ASCII words in lower case; empty for a word that is no term, and for other words."""
        self.counter = compiled.WordCounter(self._stem, MAX_STEMS) if compiled else None

    def find_spaced(self, folded: str) -> Iterator[tuple[int, str]]:
        """Yield the position and the term of each word of a spaced script, in order."""
        for found in self._words(folded):
            if stem := self._stem(found[0].encode()):
                yield found.start(), stem

    def _stem_word(self, word: bytes) -> str:
        """Return the stem of a lower-case word; empty for stop words, single letters and overlong words."""
        text = word.decode()
        if len(text) == 1 or len(word) > MAX_WORD_BYTES or text in self._stop_words:
            return ""
        return str(self._stemmer.stemWord(text))


class _Stems(dict[bytes, str]):
    """A cache of stems of ASCII words; all other words map to "", since they must be split first."""

    def __init__(self, stem: Callable[[bytes], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: bytes) -> str:
        if not word.isascii():
            return ""
        if len(self) >= MAX_STEMS:
            self.clear()
        stem = self[word] = self._stem(word)
        return stem


def terms_in(language: str) -> LanguageTerms:
    """Return the terms of a language; those of English where it has neither a stemmer nor stop words."""
    return _terms_of(stemmed_as(language))


@cache
def stemmed_as(language: str) -> str:
    """Return the language whose stemmer and stop words a text gets: its own, or English."""
    has_own = language in STEMMERS or language in UNSPACED_IN or (language != "zh" and stop_words(language))
    return language if has_own else "en"


_terms_of = lru_cache(maxsize=MAX_LANGUAGES)(LanguageTerms)
