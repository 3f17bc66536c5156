"""Depth: an example of a judge plug-in, not from a paper."""

from collections.abc import Sequence

from thresher.records import Judgement, ParsedPage, TermWeight
from thresher.topics.profile import TopicProfile


class DepthJudge:
    """Call a page relevant when the topic's words come back in many of its paragraphs.

    Args:
        topic: The topic.
        threshold: The share of paragraphs about the topic from which a page is relevant.
        least_similarity: The similarity to the topic from which a paragraph is about it.
    """

    def __init__(self, topic: TopicProfile, *, threshold: float = 0.4, least_similarity: float = 0.1) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold must lie above 0 and be at most 1, got {threshold}")
        self._similarity = topic.similarity
        self._threshold = threshold
        self._least_similarity = least_similarity

    def judge(self, page: ParsedPage) -> Judgement:
        """Judge a page by the share of its paragraphs that are about the topic."""
        found = self._similarities(page)
        depth = sum(similarity >= self._least_similarity for similarity in found) / len(found) if found else 0.0
        breakdown = {"paragraphs": float(len(found)), "best paragraph": max(found, default=0.0)}
        return Judgement(relevance=depth, relevant=depth >= self._threshold, breakdown=breakdown)

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        """Return the beginnings of the paragraphs that counted most."""
        paired = zip(self._similarities(page), page.blocks or (page.text,), strict=True)
        best = sorted(paired, reverse=True)[:5]
        return [TermWeight(term=" ".join(text.split())[:40], weight=similarity) for similarity, text in best]

    def _similarities(self, page: ParsedPage) -> list[float]:
        return [self._similarity(text) for text in page.blocks or (page.text,)]
