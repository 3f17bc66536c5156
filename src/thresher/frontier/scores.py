"""What may be a score."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

SAME_SCORE = 1e-6
"""Scores that lie closer together are the same, but for rounding."""


def check_scores(scores: Iterable[float]) -> None:
    """Refuse scores that have no place in a queue, before anything is changed.

    Raises:
        ValueError: One of them is not a finite number.
    """
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"a score must be a finite number, got {score}")


def is_same_score(one: float, other: float) -> bool:
    """Tell whether two scores are the same but for rounding."""
    return abs(one - other) < SAME_SCORE
