"""Soft and hard focus: RULES, after Chakrabarti, van den Berg and Dom, WWW8, 1999.

Both ask what a taxonomy classifier says of a page; neither needs more than the score of every class.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

Scores = Mapping[Any, float]
"""The probability of every class of a taxonomy."""


def best_class(scores: Scores) -> Any:
    """Give the most likely class; of equal ones the first."""
    return max(scores, key=scores.__getitem__)


def soft_focus(scores: Scores, targets: Set[Any]) -> float:
    """Give a page's relevance: how likely it is of one of the target classes."""
    return min(sum(score for label, score in scores.items() if label in targets), 1.0)


def hard_focus(scores: Scores, targets: Set[Any], *, least: float = 0.5) -> bool:
    """Say whether a page's links are followed: its best class is a target, and likely enough."""
    best = best_class(scores)
    return best in targets and scores[best] >= least
