"""What may be a score."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite


def check_scores(scores: Iterable[float]) -> None:
    """Refuse scores that have no place in a queue, before anything is changed.

    Raises:
        ValueError: One of them is not a finite number.
    """
    for score in scores:
        if not isfinite(score):
            raise ValueError(f"a score must be a finite number, got {score}")
