"""Surface forms of terms: the words of a text that `tokenize` turned into them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from thresher.text.char_ranges import UNSPACED, UNSPACED_IN, inside
from thresher.text.tokens import tokenize

_BY_BIGRAMS = inside([*UNSPACED, *(each for ranges in UNSPACED_IN.values() for each in ranges)])
_WORDS = re.compile(rf"[^\W_{_BY_BIGRAMS}]+").findall
_UNSPACED_RUNS = re.compile(rf"[{_BY_BIGRAMS}]+").findall


def written(text: str, terms: Sequence[str], language: str = "") -> list[tuple[str, list[str]]]:
    """Return the surface forms of terms in a text.

    A stem becomes its most frequent word in the text. Character bigrams that overlap in the text become the phrase that
    contains them, so one phrase may be the form of several terms. A term that the text does not contain is unchanged.

    Returns:
        Words and phrases with their terms, each term once, in the order of the first of their terms.
    """
    form_of = {**_most_frequent_words(text, terms, language), **_longest_phrases(text, terms)}
    groups: dict[str, list[str]] = {}
    for term in dict.fromkeys(terms):
        groups.setdefault(form_of.get(term, term), []).append(term)
    return list(groups.items())


def _most_frequent_words(text: str, terms: Collection[str], language: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for word, _ in Counter(_WORDS(text)).most_common():
        for term in tokenize(word, language):
            words.setdefault(term, word)
    return {term: words[term] for term in terms if term in words}


def _longest_phrases(text: str, terms: Collection[str]) -> dict[str, str]:
    wanted = {term for term in terms if len(term) == 2 and _UNSPACED_RUNS(term) == [term]}
    phrases = Counter(phrase for run in _UNSPACED_RUNS(text) for phrase in _phrases(run, wanted))
    forms: dict[str, str] = {}
    for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), -phrases[phrase])):
        for start in range(len(phrase) - 1):
            forms.setdefault(phrase[start : start + 2], phrase)
    return forms


def _phrases(run: str, wanted: Collection[str]) -> Iterator[str]:
    """Yield the longest parts of a run of characters in which every bigram is wanted."""
    start = 0
    for end in range(1, len(run) + 1):
        if run[end - 1 : end + 1] not in wanted:
            if end - start > 1:
                yield run[start:end]
            start = end
