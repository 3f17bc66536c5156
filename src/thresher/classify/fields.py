"""The words of a page: by where they stand, and as far as they are the topic's own, in any form and side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from thresher.classify.rows import Terms
from thresher.records import ParsedPage
from thresher.text.tokens import count, tokenize

TITLE, HEADINGS, LEAD = 4.0, 1.0, 4.0
"""How often a word counts once more when it stands there; every word of the text counts once."""
MOST_CHARACTERS = 50_000
"""What a page says beyond this does not change what it is about."""
LEAD_CHARACTERS = 500
"""How much of the text is its lead, besides the title."""
FEWEST_LETTERS = 5
"""Shorter stems begin too many other words to tell a form of a word."""


def term_weights(page: ParsedPage) -> Terms:
    """Weigh the terms of a page: ``ln(1 + n)``, n counting each occurrence by its place."""
    n: dict[str, float] = dict(count(page.text[:MOST_CHARACTERS]))
    places = [
        (page.title, TITLE),
        (" ; ".join(page.headings), HEADINGS),
        (page.text[: len(page.title) + LEAD_CHARACTERS], LEAD),  # the text begins with the title
    ]
    for text, times in places:
        for term, found in count(text).items():
            n[term] = n.get(term, 0.0) + times * found
    return Terms.of_counts(n)


class PhraseWords:
    """Finds the words of a topic's phrases on pages: in other forms, and side by side.

    A stem that begins with a word of a phrase, or that begins it, is a form of that word: "volcanic" has another stem
    than "volcano", but means the same topic. Words that stand side by side in a phrase are one more term where they do
    so on a page: "French Revolution" says more than "French" here and "revolution" there. Chinese terms are pairs of
    characters already and are left alone.

    Args:
        phrases: As the user wrote them.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._words: dict[str, list[str]] = {}
        self._pairs: set[tuple[str, str]] = set()
        for phrase in phrases:
            terms = tokenize(phrase)
            for term in terms:
                if len(term) >= FEWEST_LETTERS and term.isascii():
                    self._words.setdefault(term[:FEWEST_LETTERS], []).append(term)
            self._pairs.update(pair for pair in pairwise(terms) if "".join(pair).isascii())

    @property
    def pairs(self) -> list[str]:
        """The terms that stand for two words side by side."""
        return sorted(map(" ".join, self._pairs))

    def mark(self, page: ParsedPage, terms: Terms) -> Terms:
        """Merge the forms of the phrases' words in the terms of a page, and add its pairs."""
        forms = {name: word for name in terms.names if name[:FEWEST_LETTERS] in self._words if (word := self._of(name))}
        pairs = self._count_pairs(page, {*terms.names, *forms.values()}, forms)
        if not (forms or pairs):
            return terms
        n = dict(zip(terms.names, np.expm1(terms.weights).tolist(), strict=True))
        for form, word in forms.items():
            n[word] = n.get(word, 0.0) + n.pop(form)
        return Terms.of_counts(n | pairs)

    def _of(self, name: str) -> str | None:
        """Return the word that a term is another form of."""
        words = self._words[name[:FEWEST_LETTERS]]
        if name in words:
            return None
        return next((word for word in words if word.startswith(name) or name.startswith(word)), None)

    def _count_pairs(self, page: ParsedPage, names: set[str], forms: dict[str, str]) -> dict[str, float]:
        possible = {pair for pair in self._pairs if names.issuperset(pair)}
        if not possible:  # most pages; the others are read word by word
            return {}
        wanted = {*(word for pair in possible for word in pair), *forms}
        tokens = tokenize(page.text[:MOST_CHARACTERS])
        near = [(place, forms.get(token, token)) for place, token in enumerate(tokens) if token in wanted]
        found = Counter((a, b) for (i, a), (j, b) in pairwise(near) if j == i + 1 and (a, b) in possible)
        return {" ".join(pair): float(times) for pair, times in found.items()}
