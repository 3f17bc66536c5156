"""Naive Bayes over numbered features: counts, and their logarithms, recomputed by `fit`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Features = NDArray[np.int32]
"""The numbers of the features that an example has."""


class NaiveBayes:
    """The multinomial model over present features.

    Args:
        classes: How many.
        features: How many.
        alpha: Smoothing: the prior count of every feature in each class.
    """

    def __init__(self, classes: int, features: int, *, alpha: float = 1.0) -> None:
        self._alpha = alpha
        self.examples = np.zeros(classes, dtype=np.int64)
        self.counts = np.zeros((classes, features), dtype=np.int64)
        self._prior = np.zeros(classes)
        self._logs = np.zeros((classes, features))

    def add(self, label: int, features: Features) -> None:
        """Count an example; it takes effect at the next `fit`."""
        self.examples[label] += 1
        np.add.at(self.counts[label], features, 1)

    def fit(self) -> None:
        """Recompute the logarithms of the counts."""
        smoothed = self.counts + self._alpha
        self._logs = np.log(smoothed / smoothed.sum(axis=1, keepdims=True))
        self._prior = np.log((self.examples + self._alpha) / (self.examples + self._alpha).sum())

    def predict(self, examples: Sequence[Features]) -> NDArray[np.float64]:
        """Return the probabilities of all classes, one row per example."""
        lengths = [len(features) for features in examples]
        rows = np.repeat(np.arange(len(examples)), lengths)
        features = np.concatenate(examples) if examples else np.zeros(0, dtype=np.int32)
        sums = [np.bincount(rows, weights=logs[features], minlength=len(examples)) for logs in self._logs]
        joint = np.stack(sums, axis=1) + self._prior
        odds = np.exp(joint - joint.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))
