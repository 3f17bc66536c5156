"""The cosine of page and topic: FCMRPS, equations 1 to 3.

The page's vector holds raw term frequencies after stop words and stemming; the topic has one vector per language,
and the language that fits best counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from thresher.classify.base import Brief
from thresher.records import Judgement, ParsedPage, Word
from thresher.text.tokens import count
from thresher.text.vectors import cosine, norm


class CosineJudge:
    """Judge a page by the angle between its words and the topic's.

    Args:
        brief: The topic; its vectors are compared with the page's.
        threshold: A page is relevant when its cosine is at least this; the paper's delta.
    """

    def __init__(self, brief: Brief, *, threshold: float = 0.1) -> None:
        self._vectors = brief.vectors
        self._threshold = threshold

    def judge(self, page: ParsedPage) -> Judgement:
        """Return the best cosine over the topic's languages."""
        v_c = count(page.text)
        parts = {f"cosine {code}": cosine(v_c, v_t) for code, v_t in self._vectors.items()}
        R_PC = max(parts.values(), default=0.0)
        return Judgement(relevance=R_PC, relevant=self._threshold <= R_PC, parts=parts)

    def words(self, page: ParsedPage) -> Sequence[Word]:
        """Give the topic's terms on the page, each with its share of the cosine; none can speak against it."""
        v_c = count(page.text)
        v_t = max(self._vectors.values(), key=lambda vector: cosine(v_c, vector), default={})
        length = norm(v_c) * norm(v_t) or 1.0
        shared = [Word(term=term, weight=v_c[term] * v_t[term] / length) for term in v_t if term in v_c]
        return sorted(shared, key=lambda word: -word.weight)
