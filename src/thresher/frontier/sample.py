"""A look at the scores of all that waits, taken from a part of it where all would be too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Scores of waiting URLs.

    Args:
        scores: Each with the number of URLs that it stands for.
        whole: Whether every URL that waits is among them.
    """

    scores: Sequence[tuple[float, float]] = ()
    whole: bool = True
