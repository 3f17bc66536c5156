"""FCMRPS: a focused crawler with multiple relevance prediction strategies; sections 3 and 4, algorithm 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.depth import fcmrps_depth
from thresher.strategies.evidence.anchor import anchor_relevance
from thresher.strategies.evidence.link_type import link_type_relevance

ALL = "1234"


class Fcmrps:
    """Follow links by four signs at once: page content, anchor text, URL and direction of the link.

    How far a path may still lead is kept with its URL in the queue, so a restart and other workers go on with it.

    Args:
        aim: The topic.
        use: Which of the four signs count, by their numbers, such as 13 or 124; ``all`` is all of them.
        weights: What each sign weighs; over those in use the weights are made to add up to 1.
        D: A path may lead over D irrelevant pages in a row.
    """

    merge = Merge.MAX

    def __init__(
        self, aim: Aim, *, use: str | int = "all", weights: Sequence[float] = (1, 1, 1, 1), D: int = 3
    ) -> None:
        self._aim = aim
        self._w = _weights(ALL if use == "all" else str(use), weights)
        self._D = D

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top, with the whole depth before them."""
        return (Candidate(url=url, score=1.0, depth_left=self._D) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give each link the weighted sum of what its four signs predict."""
        depth = fcmrps_depth(lease.depth_left, judgement.relevant, self._D)
        if depth is None:
            return
        w1, w2, w3, w4 = self._w
        likeness, url_evidence = self._aim.likeness, self._aim.url_evidence
        R_PC = likeness(page.text)
        for link in page.links:
            R_AT = anchor_relevance(likeness, link, R_PC=R_PC)
            R_url = url_evidence(link.url)
            R_LT = link_type_relevance(page.url, link.url, R_AT=R_AT, R_PC=R_PC)
            RS = w1 * R_PC + w2 * R_AT + w3 * R_url + w4 * R_LT
            parts = {"page": R_PC, "anchor": R_AT, "url": R_url, "link type": R_LT}
            yield Candidate(url=link.url, score=RS, parts=parts, depth_left=depth)


def _weights(use: str, weights: Sequence[float]) -> list[float]:
    """Scale the weights of the signs in use to a sum of 1; the others weigh nothing."""
    if not use or not set(use) <= set(ALL):
        raise ValueError(f"use must be all or some of the numbers {ALL}, such as 13; got {use!r}")
    if len(weights) != len(ALL) or min(weights) < 0:
        raise ValueError(f"weights must be four numbers, none below 0; got {list(weights)}")
    w = [weight if number in use else 0.0 for number, weight in zip(ALL, weights, strict=True)]
    if not sum(w):
        raise ValueError(f"the weights of the signs in use ({use}) must not all be 0")
    return [weight / sum(w) for weight in w]
