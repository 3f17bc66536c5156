"""Cosine similarity of page and topic: FCMRPS, equations 1 to 3.

The page's vector holds raw term frequencies after stop-word removal and stemming. The topic has one vector per
language; the best match counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from thresher.records import Judgement, ParsedPage, TermWeight
from thresher.text.tokens import count
from thresher.text.vectors import cosine, norm
from thresher.topics.profile import TopicProfile


class CosineJudge:
    """Judge a page by the angle between its words and the topic's.

    Args:
        topic_profile: The topic; its vectors are compared with the page's.
        threshold: A page is relevant when its cosine is at least this; the paper's delta.
    """

    def __init__(self, topic_profile: TopicProfile, *, threshold: float = 0.1) -> None:
        self._vectors = topic_profile.vectors
        self._threshold = threshold

    def judge(self, page: ParsedPage) -> Judgement:
        v_c = count(page.text, page.language)
        breakdown = {f"cosine {code}": cosine(v_c, v_t) for code, v_t in self._vectors.items()}
        R_PC = max(breakdown.values(), default=0.0)
        return Judgement(relevance=R_PC, relevant=self._threshold <= R_PC, breakdown=breakdown)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return the topic's terms on the page, each with its share of the cosine; no weight is negative."""
        v_c = count(page.text, page.language)
        v_t = max(self._vectors.values(), key=lambda vector: cosine(v_c, vector), default={})
        length = norm(v_c) * norm(v_t) or 1.0
        shared = [TermWeight(term=term, weight=v_c[term] * v_t[term] / length) for term in v_t if term in v_c]
        return sorted(shared, key=lambda word: -word.weight)
