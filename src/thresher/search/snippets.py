"""Snippets: the part of a page's text that best shows why it was found."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice

from thresher.text.tokens import CJK, tokenize

CHARACTERS = 160
MAX_CHARACTERS = 30_000
"""Only this part of a text is searched."""
OPEN, CLOSE = "«", "»"
"""Mark the words of the query."""

_MAX_PLACES = 200
_LEAD = 30  # characters before the first match, so that the snippet begins in its sentence
_IS_UNSPACED = re.compile(rf"[{CJK}]").match
_REST_OF_WORD = re.compile(rf"[^\W_{CJK}]*").match


def snippet(text: str, terms: AbstractSet[str]) -> str:
    """Return the window with the most terms, its matches in marks; without a match, the beginning."""
    text = " ".join(text[:MAX_CHARACTERS].split())
    places = _places(text, terms)
    start = _best_start(places) - _LEAD if places else 0
    start = max(0, min(start, len(text) - CHARACTERS))
    if start and not _IS_UNSPACED(text[start]):
        start = text.find(" ", start, start + _LEAD) + 1 or start
    end = min(len(text), start + CHARACTERS)
    inside = [(begin, stop) for begin, stop, _ in places if start <= begin and stop <= end]
    return f"{'…' if start else ''}{_marked(text, start, end, inside)}{'…' if end < len(text) else ''}"


def _places(text: str, terms: AbstractSet[str]) -> list[tuple[int, int, str]]:
    """Return the positions of terms, in order."""
    unspaced = [term for term in terms if _IS_UNSPACED(term)]
    found = [*_words(text, terms - set(unspaced)), *(place for term in unspaced for place in _pairs(text, term))]
    return sorted(found)


def _words(text: str, terms: AbstractSet[str]) -> Iterator[tuple[int, int, str]]:
    """Find words by their stems: they begin alike, and tokenize to them."""
    lower = _lower(text)
    for beginning in {_beginning(term) for term in terms}:
        for start in islice(_finds(lower, beginning), _MAX_PLACES):
            before = text[start - 1 : start] if start else ""
            if before.isalnum() and not _IS_UNSPACED(before):
                continue  # the end of another word
            rest = _REST_OF_WORD(text, start)
            assert rest is not None  # it may be empty
            for term in terms & set(tokenize(rest[0])):
                if _beginning(term) == beginning:
                    yield start, rest.end(), term


def _lower(text: str) -> str:
    """Return a text in lower case, with every character at its position."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)


def _finds(text: str, part: str) -> Iterator[int]:
    """Yield the positions of a substring; much faster than a regular expression with alternatives."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


def _pairs(text: str, term: str) -> Iterator[tuple[int, int, str]]:
    """Find unspaced characters, which may overlap those of other terms."""
    for match in islice(re.finditer(re.escape(term), text), _MAX_PLACES):
        yield match.start(), match.end(), term


def _beginning(term: str) -> str:
    """Return the common beginning of all words of a stem: stemming turns a last y into i, and may have added an e."""
    return term[:-1] if term[-1] in "ie" and len(term) > 3 and term.isascii() else term


def _best_start(places: list[tuple[int, int, str]]) -> int:
    """Return the start of the window with the most different terms."""
    best, most = places[0][0], 0
    begins = [begin for begin, _, _ in places]
    for number, (begin, _, _) in enumerate(places):
        behind = bisect_left(begins, begin + CHARACTERS - _LEAD)
        window = {term for _, _, term in places[number:behind]}
        if len(window) > most:
            best, most = begin, len(window)
    return best


def _marked(text: str, start: int, end: int, inside: list[tuple[int, int]]) -> str:
    pieces, here = [], start
    for begin, stop in _joined(inside):
        pieces += [text[here:begin], OPEN, text[begin:stop], CLOSE]
        here = stop
    return "".join([*pieces, text[here:end]])


def _joined(inside: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join adjacent positions, such as pairs of characters."""
    joined: list[tuple[int, int]] = []
    for begin, stop in inside:
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(stop, joined[-1][1]))
        else:
            joined.append((begin, stop))
    return joined
