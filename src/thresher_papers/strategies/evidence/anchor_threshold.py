"""The threshold of pseudo labels, recomputed by each training: SURVEY, figure 6."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

KNOWN_TARGETS = 1_000
"""The latest links with a score and a known target, by which the threshold is chosen."""
UNDECIDED = 0.5

Known = tuple[float, bool]
"""The predicted probability that a link is relevant, and whether it was."""


def new_threshold(known: Sequence[Known], accuracy: float, old: float) -> float:
    """Return the least confidence from which scores were accurate enough; the old threshold when there is none."""
    ranked = sorted(((confidence(score), (score > UNDECIDED) == relevant) for score, relevant in known), reverse=True)
    threshold, seen, right = None, 0, 0
    for least, group in groupby(ranked, key=lambda one: one[0]):
        verdicts = [is_right for _, is_right in group]
        seen, right = seen + len(verdicts), right + sum(verdicts)
        if right >= accuracy * seen:
            threshold = least
    return old if threshold is None else threshold


def confidence(anchor_score: float) -> float:
    """Return the distance of a score from undecided, from 0 to 1."""
    return abs(2 * anchor_score - 1)
