"""A safety net under the model: classics that speak up as soon as they foresee better than it does.

Every expert says of each URL how likely it leads to the topic. When the page comes, all of them are marked by their log
loss, and their say changes with it (Hedge, with a fixed share). So the mixture's loss exceeds that of the best expert
by a constant, whatever the model has learned: Vovk 1990; Herbster and Warmuth 1998.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.strategies.learned.features import NAMES
from thresher.strategies.learned.model import sigmoid

FIRST_SAY = 0.9
"""The model's say at first: its prior was learned on other topics, where it foresaw better than any classic."""
FIXED_SHARE = 0.01
"""Of every expert's say goes to all alike, so that one that was wrong for long can come back."""
FIRST_SLOPE, FIRST_LEVEL, LEAST_SLOPE = 3.0, -2.5, 0.5
"""Where the calibration of a classic's score starts; it is never read upside down."""
RATE, FIRST_SQUARE = 0.3, 1.0
MOST_LOSS = 5.0
"""What one page can cost an expert, in nats."""

Floats = NDArray[np.float64]


CLASSICS: Mapping[str, Mapping[str, float]] = {
    "best-first": {"rel_max": 1.0},
    "relevant-parents": {"rel_mean": 1.0},
    "page-anchor": {"rel_max": 0.5, "anchor_max": 0.5},
    "fcmrps": {"rel_max": 0.5, "anchor_max": 0.5, "url": 0.5, "context": 0.5},
}
"""The scores of classics, as sums of what the model knows too; FCMRPS's without the direction of links."""
_USED = sorted({NAMES.index(name) for sums in CLASSICS.values() for name in sums})
_SUMS = np.array([[sums.get(NAMES[column], 0.0) for column in _USED] for sums in CLASSICS.values()])


class Net:
    """Mixes what the model and the classics foresee."""

    def __init__(self) -> None:
        classics = len(CLASSICS)
        self._say = np.array([FIRST_SAY, *([(1 - FIRST_SAY) / classics] * classics)])
        self._lines = np.tile([FIRST_SLOPE, FIRST_LEVEL], (classics, 1))
        self._squares = np.full((classics, 2), FIRST_SQUARE)

    @property
    def say(self) -> dict[str, float]:
        """How much each expert has to say."""
        return dict(zip(("learned", *CLASSICS), self._say.tolist(), strict=True))

    def state(self) -> dict[str, Floats]:
        """Return what a restart needs."""
        return {"net_say": self._say, "net_lines": self._lines, "net_squares": self._squares}

    def resume_from(self, state: Mapping[str, Floats]) -> None:
        """Take up what `state` returned; notes of older versions do not hold it.

        Raises:
            ValueError: It is of other classics.
        """
        if "net_say" not in state:
            return
        say, lines, squares = (np.asarray(state[name], dtype=np.float64) for name in self.state())
        if say.shape != self._say.shape or lines.shape != squares.shape or lines.shape != self._lines.shape:
            raise ValueError("what was learned is of other classics")
        self._say, self._lines, self._squares = say, lines, squares

    def mix(self, x: Floats, learned: Floats) -> Floats:
        """Give what all experts together foresee of some URLs.

        Args:
            x: The URLs' features.
            learned: What the model foresees.
        """
        return self._say @ self._foresee(_scores(x), learned)

    def learn(self, x: Floats, learned: float, relevance: float) -> None:
        """Mark the experts by what became of a URL, and calibrate the classics."""
        scores = _scores(x[None, :])
        p = np.clip(self._foresee(scores, np.array([learned]))[:, 0], 1e-6, 1 - 1e-6)
        loss = -relevance * np.log(p) - (1 - relevance) * np.log(1 - p)
        say = self._say * np.exp(-np.minimum(loss, MOST_LOSS))
        self._say = (1 - FIXED_SHARE) * say / say.sum() + FIXED_SHARE / len(say)
        gradient = (p[1:] - relevance)[:, None] * np.stack([scores[:, 0], np.ones(len(scores))], axis=1)
        self._squares += gradient**2
        self._lines -= RATE * gradient / np.sqrt(self._squares)
        self._lines[:, 0] = np.maximum(self._lines[:, 0], LEAST_SLOPE)

    def _foresee(self, scores: Floats, learned: Floats) -> Floats:
        return np.vstack([learned, sigmoid(scores * self._lines[:, :1] + self._lines[:, 1:])])


def _scores(x: Floats) -> Floats:
    scores: Floats = _SUMS @ x.T[_USED]
    return scores
