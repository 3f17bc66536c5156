"""What may be a score."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from struct import Struct

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


_SHORT = Struct("f")


def short(score: float) -> float:
    """Round a score from -1 to 1 to what 32 bits hold: nobody's order rests on the eighth digit, and stores can keep it
    in half the room."""
    return float(_SHORT.unpack(_SHORT.pack(score))[0]) if -1.0 <= score <= 1.0 else score


def is_same_score(one: float, other: float) -> bool:
    """Tell whether two scores are the same but for rounding."""
    return abs(one - other) < SAME_SCORE
