"""Relevance by the words of a link: FCMRPS 3.4, equations 2 to 4."""

from __future__ import annotations

from collections.abc import Callable

from thresher.records import Link

Likeness = Callable[[str], float]
"""From a text to its cosine with the topic, such as `Aim.likeness`."""


def anchor_relevance(likeness: Likeness, link: Link, *, R_PC: float) -> float:
    """Give R_AT: the cosine of the anchor and the topic, or that of the words around it when the anchor has none.

    Args:
        likeness: The cosine of a text and the topic.
        link: The link.
        R_PC: The cosine of the page it stands on.
    """
    R_anchor = likeness(link.anchor)
    return R_anchor if R_anchor > 0 else context_relevance(likeness, link, R_PC=R_PC)


def context_relevance(likeness: Likeness, link: Link, *, R_PC: float) -> float:
    """Give the cosine of the words around a link and the topic.

    They stand on the page too, so where the page has no word of the topic they need not be read.
    """
    return likeness(link.context) if R_PC > 0 else 0.0
