"""Naive Bayes over numbered features: counts that only grow, and their logarithms, taken anew when asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.int32]
"""The numbers of the features that an example has."""


class NaiveBayes:
    """Gives the probability of each class, by the features that are there: the multinomial model.

    Args:
        classes: How many.
        features: How many.
        alpha: Smoothing: how often every feature counts as seen in each class before the first example.
    """

    def __init__(self, classes: int, features: int, *, alpha: float = 1.0) -> None:
        self._alpha = alpha
        self.examples = np.zeros(classes, dtype=np.int64)
        self.counts = np.zeros((classes, features), dtype=np.int64)
        self._prior = np.zeros(classes)
        self._logs = np.zeros((classes, features))

    def add(self, label: int, features: Features) -> None:
        """Count an example; it matters from the next `fit` on."""
        self.examples[label] += 1
        np.add.at(self.counts[label], features, 1)

    def fit(self) -> None:
        """Take the logarithms of what was counted."""
        smoothed = self.counts + self._alpha
        self._logs = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
        self._prior = np.log((self.examples + self._alpha) / (self.examples + self._alpha).sum())

    def predict(self, examples: Sequence[Features]) -> NDArray[np.float64]:
        """Give the probabilities of all classes, a row for each example."""
        lengths = [len(features) for features in examples]
        rows = np.repeat(np.arange(len(examples)), lengths)
        features = np.concatenate(examples) if examples else np.zeros(0, dtype=np.int32)
        sums = [np.bincount(rows, weights=logs[features], minlength=len(examples)) for logs in self._logs]
        joint = np.stack(sums, axis=1) + self._prior
        odds = np.exp(joint - joint.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
