"""Soft and hard focus: RULES, after Chakrabarti, van den Berg and Dom, 1999; functions of the scores of all classes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

Scores = Mapping[Any, float]
"""The probability of every class of a taxonomy."""


def best_class(scores: Scores) -> Any:
    """Return the most likely class; of equal ones the first."""
    return max(scores, key=scores.__getitem__)


def soft_focus(scores: Scores, targets: Set[Any]) -> float:
    """Return a page's relevance: the probability of the target classes."""
    return min(sum(score for label, score in scores.items() if label in targets), 1.0)


def hard_focus(scores: Scores, targets: Set[Any], *, least: float = 0.5) -> bool:
    """Return whether to follow a page's links: its best class is a target, and likely enough."""
    best = best_class(scores)
    return best in targets and scores[best] >= least
