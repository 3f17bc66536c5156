"""The cosine of page and topic: FCMRPS, equations 1 to 3.

The page's vector holds raw term frequencies after stop words and stemming; the topic has one vector per language,
and the language that fits best counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from thresher.records import Judgement, ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import cosine


class CosineJudge:
    """Judge a page by the angle between its words and the topic's.

    Args:
        vectors: The topic's term weights, by language.
        delta: A page is relevant when its cosine lies above this.
    """

    def __init__(self, vectors: Mapping[str, Mapping[str, float]], *, delta: float = 0.1) -> None:
        self._vectors = vectors
        self._delta = delta

    def judge(self, page: ParsedPage) -> Judgement:
        """Return the best cosine over the topic's languages."""
        v_c = count(page.text)
        parts = {f"cosine {code}": cosine(v_c, v_t) for code, v_t in self._vectors.items()}
        R_PC = max(parts.values(), default=0.0)
        return Judgement(relevance=R_PC, relevant=self._delta < R_PC, parts=parts)
