"""From which score on an anchor is believed before its target is seen: SURVEY, figure 6; training gives it anew."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

KNOWN_TARGETS = 1_000
"""The latest links with a score and a known target, by which the threshold is chosen."""
UNDECIDED = 0.5

Known = tuple[float, bool]
"""How likely a link was said to be relevant, and whether it was."""


def new_threshold(known: Sequence[Known], accuracy: float, old: float) -> float:
    """Give the least confidence from which on scores were right often enough; the old threshold when there is none."""
    ranked = sorted(((confidence(score), (score > UNDECIDED) == relevant) for score, relevant in known), reverse=True)
    threshold, seen, right = None, 0, 0
    for least, group in groupby(ranked, key=lambda one: one[0]):
        verdicts = [is_right for _, is_right in group]
        seen, right = seen + len(verdicts), right + sum(verdicts)
        if right >= accuracy * seen:
            threshold = least
    return old if threshold is None else threshold


def confidence(anchor_score: float) -> float:
    """Give how far a score lies from undecided, from 0 to 1."""
    return abs(2 * anchor_score - 1)
