"""Hot words: the similarity of an anchor and the user's query; LAYERS 3.1."""

from __future__ import annotations

from collections.abc import Iterable

from thresher.text.tokens import count
from thresher.text.vectors import cosine


class HotWords:
    """The phrases of a query, each as terms: stems of words, and pairs of Chinese characters.

    A query of the paper is one phrase in one language. A topic has several: each is compared on its own, since an
    anchor in one language cannot contain the words of another, and further keywords must not make a hot word cold.

    Args:
        phrases: The query as the user wrote it: title and keywords.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._queries = [q for q in map(count, phrases) if q]

    def similarity(self, anchor: str) -> float:
        """Return hot(h, q), the cosine of the anchor's term counts and the query's; of several phrases the greatest."""
        h = count(anchor) if anchor else {}
        return max((cosine(h, q) for q in self._queries), default=0.0) if h else 0.0
