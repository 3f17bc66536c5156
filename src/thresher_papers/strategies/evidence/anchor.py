"""Relevance by the words of a link: FCMRPS 3.4, equations 2 to 4."""

from __future__ import annotations

from collections.abc import Callable

from thresher.records import Link

Similarity = Callable[[str], float]
"""From a text to its cosine with the topic, such as `TopicProfile.similarity`."""


def anchor_relevance(similarity: Similarity, link: Link, *, R_PC: float) -> float:
    """Return R_AT: the cosine of the anchor and the topic, or of its context when that is 0.

    Args:
        similarity: The cosine of a text and the topic.
        link: The link.
        R_PC: The cosine of the page it is on.
    """
    R_anchor = similarity(link.anchor)
    return R_anchor if R_anchor > 0 else context_relevance(similarity, link, R_PC=R_PC)


def context_relevance(similarity: Similarity, link: Link, *, R_PC: float) -> float:
    """Return the cosine of the context of a link and the topic.

    The context is part of the page, so when the page has no word of the topic it is 0.
    """
    return similarity(link.context) if R_PC > 0 else 0.0
