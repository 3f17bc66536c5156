"""FCMRPS: a focused crawler with multiple relevance prediction strategies; sections 3 and 4, algorithm 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import BaseStrategy
from thresher.strategies.depth_limit import fcmrps_depth
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.anchor import anchor_relevance
from thresher_papers.strategies.evidence.link_type import link_type_relevance

ALL = "1234"


class Fcmrps(BaseStrategy):
    """Follow links by four predictors: page content, anchor text, URL and direction of the link.

    The remaining depth of a path is stored with its URL in the queue, so it survives restarts and is shared by workers.

    Args:
        topic_profile: The topic.
        use: Which of the four predictors count, by their numbers, such as 13 or 124; ``all`` is all of them.
        weights: The weight of each predictor; the weights of those in use are normalised to a sum of 1.
        D: A path may lead over D irrelevant pages in a row.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        use: str | int = "all",
        weights: Sequence[float] = (1, 1, 1, 1),
        D: int = 3,
    ) -> None:
        self._topic_profile = topic_profile
        self._w = _weights(ALL if use == "all" else str(use), weights)
        self._D = self.seed_depth = D

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        depth = fcmrps_depth(lease.depth_left, judgement.relevant, self._D)
        if depth is None:
            return
        w1, w2, w3, w4 = self._w
        similarity = partial(self._topic_profile.similarity, language=page.language)
        url_evidence = self._topic_profile.url_evidence
        R_PC = similarity(page.text)
        for link in page.links:
            R_AT = anchor_relevance(similarity, link, R_PC=R_PC)
            R_url = url_evidence(link.url)
            R_LT = link_type_relevance(page.url, link.url, R_AT=R_AT, R_PC=R_PC)
            RS = w1 * R_PC + w2 * R_AT + w3 * R_url + w4 * R_LT
            breakdown = {"page": R_PC, "anchor": R_AT, "url": R_url, "link type": R_LT}
            yield Candidate(url=link.url, score=RS, breakdown=breakdown, depth_left=depth)


def _weights(use: str, weights: Sequence[float]) -> list[float]:
    """Normalise the weights of the predictors in use to a sum of 1; the others are 0."""
    if not use or not set(use) <= set(ALL):
        raise ValueError(f"use must be all or some of the numbers {ALL}, such as 13; got {use!r}")
    if len(weights) != len(ALL) or min(weights) < 0:
        raise ValueError(f"weights must be four numbers, none below 0; got {list(weights)}")
    w = [weight if number in use else 0.0 for number, weight in zip(ALL, weights, strict=True)]
    if not sum(w):
        raise ValueError(f"the weights of the predictors in use ({use}) must not all be 0")
    return [weight / sum(w) for weight in w]
