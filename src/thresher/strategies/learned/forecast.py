"""How much of the topic is found, and how much the rest of the crawl may still bring.

    left = sum of p over what waits and is worth a fetch        found / (found + left) = share found

Scores are good at putting URLs in order, and too hopeful about the many that never come to their turn. So p is the
score set right by the latest pages: log odds times a slope plus a level (Platt 1999), fitted to what became of the
URLs that were fetched; and the thousands with less than one chance in twenty, of which nobody learns how they would
have ended, are left out of the sum. What no known page links to is in nobody's sum, so the share is one "of what can
be seen from here".
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from thresher.records import Forecast, Judgement
from thresher.strategies.learned.model import sigmoid

NEXT = 100
"""How many of the best URLs the next yield is taken over."""
LATEST = 300
"""How many pages scores are set right by."""
MOST_OUTCOMES = 5_000
"""The latest pages that are remembered, for second thoughts of the judge."""
WORTH = 0.05
"""The chance from which on a URL is counted."""
HOLD = 1.0
"""How strongly scores are believed to be right, in examples."""
NEWTON_STEPS = 8
LEAST_SLOPE = 0.5
SURE = 1e-4

Floats = NDArray[np.float64]


class Foresight:
    """Compares what was foreseen with what came, and looks ahead by both."""

    def __init__(self) -> None:
        self._found = 0.0
        self._outcomes: dict[int, float] = {}
        self._latest: deque[tuple[int, float]] = deque(maxlen=LATEST)

    def came(self, key: int, outcome: float, *, score: float | None) -> None:
        """Take in what became of a URL, and the score it was fetched for; None when it had none of ours."""
        self._found += outcome
        self._outcomes[key] = outcome
        if len(self._outcomes) > MOST_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        if score is not None:
            self._latest.append((key, score))

    def think_again(self, key: int, outcome: float) -> None:
        """Take over what is now thought of a page."""
        if key in self._outcomes:
            self._found += outcome - self._outcomes[key]
            self._outcomes[key] = outcome

    def ahead(self, scores: Floats) -> Forecast:
        """Look ahead, from the scores of all that waits."""
        level, slope = self._line()
        chances = sigmoid(level + slope * _log_odds(scores))
        best = np.sort(chances)[-NEXT:]
        next_yield = float(best.mean()) if len(best) else 0.0
        return Forecast(found=self._found, left=float(chances[chances >= WORTH].sum()), next_yield=next_yield)

    def _line(self) -> tuple[float, float]:
        """Fit level and slope to the latest pages, held to 0 and 1."""
        line = usual = np.array([0.0, 1.0])
        if self._latest:
            z = _log_odds(np.array([score for _, score in self._latest]))
            r = np.array([self._outcomes.get(key, 0.0) for key, _ in self._latest])
            x = np.stack([np.ones(len(z)), z], axis=1)
            for _ in range(NEWTON_STEPS):
                p = sigmoid(x @ line)
                gradient = x.T @ (p - r) + HOLD * (line - usual)
                step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + HOLD * np.eye(2), gradient)
                line = line - step / max(1.0, float(np.abs(step).max()))
        return float(line[0]), max(LEAST_SLOPE, float(line[1]))


def outcome_of(judgement: Judgement) -> float:
    """Say how likely a page is about the topic, as far as its judge can tell."""
    return judgement.relevance if judgement.probability is None else judgement.probability


def _log_odds(scores: Floats) -> Floats:
    p = np.clip(scores, SURE, 1 - SURE)
    odds: Floats = np.log(p / (1 - p))
    return odds
