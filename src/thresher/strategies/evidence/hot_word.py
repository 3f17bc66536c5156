"""Hot words: the similarity of an anchor and the user's query; LAYERS 3.1."""

from __future__ import annotations

from collections.abc import Iterable

from thresher.text.tokens import count
from thresher.text.vectors import cosine


class HotWords:
    """The words of a query, as terms: stems of words, and pairs of Chinese characters.

    Args:
        phrases: The query as the user wrote it: title and keywords.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._q = count("\n".join(phrases))

    def similarity(self, anchor: str) -> float:
        """Return hot(h, q): the cosine of the anchor's term counts and the query's."""
        return cosine(count(anchor), self._q) if anchor else 0.0
