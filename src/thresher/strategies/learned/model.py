"""Logistic regression from prior weights: as far from them as the crawl's own examples ask for, and no farther.

    minimise  sum of log loss  +  1/2 (w - w0)' H (w - w0)

over the features and some combinations of them, which other topics have shown to be worth it and which stay as they
are; by a few of Newton's steps from the last weights. These are few, so this costs about a millisecond, and unlike
steps down a gradient it needs no rate and forgets no example.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.strategies.learned.prior import Prior

MOST_EXAMPLES = 2_000
"""The latest examples, which the weights are fitted to."""
NEWTON_STEPS = 2
LONGEST_STEP = 2.0
LEAST_CURVATURE = 1e-4
SURE = 1e-4
STOPS, STOP_SHARES = (np.polynomial.legendre.leggauss(4) + np.array([[1.0], [0.0]])) / 2
"""Where to look on the way along which the parts of a score are found, and what each look counts (Gauss, Legendre)."""

Floats = NDArray[np.float64]


def sigmoid(z: Floats) -> Floats:
    """Give probabilities for log odds."""
    return 1 / (1 + np.exp(np.minimum(np.maximum(-z, -30), 30)))  # `clip` costs more than all of it


def log_odds(p: Floats) -> Floats:
    """Give the log odds of probabilities, none of which counts as certain."""
    p = np.clip(p, SURE, 1 - SURE)
    odds: Floats = np.log(p / (1 - p))
    return odds


class Model:
    """Weights of the features and of their combinations."""

    def __init__(self, prior: Prior, *, most: int = MOST_EXAMPLES) -> None:
        self.weights = prior.weights.copy()
        self._prior = prior
        self._x = np.zeros((most, len(prior.mixing)))
        self._r = np.zeros(most)
        self._keys = np.zeros(most, dtype=np.int64)
        self._rows: dict[int, int] = {}
        self.count = 0

    def foresee(self, x: Floats) -> Floats:
        """Give how likely URLs lead to the topic, by their features."""
        return sigmoid(self._prior.with_combinations(x) @ self.weights)

    def parts(self, x: Floats) -> Floats:
        """Give what each feature of some URLs adds to the log odds, its share of the combinations included.

        By integrated gradients (Sundararajan et al. 2017): how the log odds rise with each feature on the way from a
        URL that nothing is known of. What they are there counts for the first feature, which is always 1.
        """
        mixing, width = self._prior.mixing, x.shape[1]
        straight, combined = self.weights[:width], self.weights[width:]
        unknown = np.zeros(width)
        unknown[0] = 1.0
        hidden = np.tanh((x - unknown) @ mixing * STOPS[:, None, None] + unknown @ mixing)
        slopes = straight + combined * (1 - np.tensordot(STOP_SHARES, hidden**2, 1)) @ mixing.T
        parts: Floats = slopes * (x - unknown)
        parts[:, 0] = self._prior.with_combinations(unknown) @ self.weights
        return parts

    def add(self, key: int, x: Floats, r: float) -> None:
        """Take in what was known of a URL before it was fetched, and how relevant its page was."""
        row = self.count % len(self._r)
        self._rows.pop(int(self._keys[row]), None)
        self._x[row], self._r[row], self._keys[row] = x, r, key
        self._rows[key] = row
        self.count += 1

    def revise(self, key: int, r: float) -> None:
        """Take over what is now thought of a page."""
        if (row := self._rows.get(key)) is not None:
            self._r[row] = r

    def fit(self) -> None:
        """Fit the weights to the examples."""
        x, r = self._examples()
        x, hold = self._prior.with_combinations(x), self._prior.hold
        for _ in range(NEWTON_STEPS):
            p = sigmoid(x @ self.weights)
            gradient = x.T @ (p - r) + hold * (self.weights - self._prior.weights)
            curvature = (x * (p * (1 - p) + LEAST_CURVATURE)[:, None]).T @ x + np.diag(hold)
            step = np.linalg.solve(curvature, gradient)
            self.weights -= step / max(1.0, float(np.abs(step).max()) / LONGEST_STEP)

    def state(self) -> dict[str, Any]:
        """Give what a restart needs."""
        x, r = self._examples()
        keys = self._keys[: len(r)]
        return {"x": x.astype(np.float16), "r": r.astype(np.float16), "keys": keys, "weights": self.weights}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave.

        Raises:
            ValueError: It is of other features.
        """
        x, r, weights = state["x"], state["r"], state["weights"]
        if x.ndim != 2 or x.shape[1] != self._x.shape[1] or weights.shape != self.weights.shape:
            raise ValueError("what was learned is of other features")
        for key, one_x, one_r in zip(state["keys"].tolist(), x.astype(np.float64), r.tolist(), strict=True):
            self.add(int(key), one_x, float(one_r))
        self.weights = weights.astype(np.float64)

    def _examples(self) -> tuple[Floats, Floats]:
        filled = min(self.count, len(self._r))
        return self._x[:filled], self._r[:filled]
