"""Classification of pages by layer, the number of links to a target: LAYERS, section 3.2.

Naive Bayes over the terms that chi-square selects, with one class for each distance 0 to N. Pages that belong to no
layer cannot be collected for training, so "other" is a most likely layer with too low a probability.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher_papers.judges.estimators.base import (
    CountsClassifier,
    Floats,
    Labels,
    Matrix,
    check_counts,
    check_labelled_counts,
)
from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes, sample_held_out

OTHER = -1
"""The layer of a page that belongs to none."""


class LayerClassifier(CountsClassifier):
    """Classify a page's distance from the targets by its terms.

    `predict` always returns a layer, as scikit-learn requires of a classifier; `predict_layers` also returns "other".

    Args:
        per_class: How many terms chi-square keeps for each layer.
        alpha: Smoothing of naive Bayes.
        reject: Share of held-out training pages to classify as "other".
        held_out: Share of each layer that is held out for temperature and threshold.
        random_state: Seed for the held-out pages.
    """

    def __init__(
        self,
        *,
        per_class: int = 500,
        alpha: float = 1.0,
        reject: float = 0.1,
        held_out: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.per_class = per_class
        self.alpha = alpha
        self.reject = reject
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn the terms of the layers, and the threshold of "other"."""
        if not 0 <= self.reject < 1:
            raise ValueError(f"reject must be at least 0 and below 1, got {self.reject}")
        X, y = check_labelled_counts(self, X, y)
        out = sample_held_out(y, self.held_out, self.random_state)
        self._learn(X[~out], y[~out])
        temperature = self.bayes_.temperature_
        self.threshold_ = 0.0
        if self.reject and out.any():
            self.threshold_ = float(np.quantile(self._proba(X[out]).max(axis=1), self.reject))
        self._learn(X, y)
        self.bayes_.temperature_ = temperature  # the threshold was computed with this one
        return self

    def _learn(self, X: Matrix, y: Labels) -> None:
        chosen = ChiSquareSelector(per_class=self.per_class).fit(X, y).support_
        self.support_: NDArray[np.bool_] = chosen if chosen.any() else np.ones_like(chosen)  # all rather than none
        self.bayes_ = WeightedNaiveBayes(
            alpha=self.alpha, calibrate=True, held_out=self.held_out, random_state=self.random_state
        ).fit(self._chosen(X), y)

    def _chosen(self, X: Matrix) -> Matrix:
        return X[:, self.support_]

    def _proba(self, X: Matrix) -> Floats:
        return np.asarray(self.bayes_.predict_proba(self._chosen(X)))

    def predict_proba(self, X: Matrix) -> Floats:
        check_is_fitted(self)
        return self._proba(check_counts(self, X, reset=False))

    def predict(self, X: Matrix) -> Any:
        """Return the most likely layer, however unlikely."""
        winners = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[winners]

    def predict_layers(self, X: Matrix) -> NDArray[np.int64]:
        """Return the most likely layer, or `OTHER` where it is not likely enough."""
        proba = self.predict_proba(X)
        sure = proba.max(axis=1) >= self.threshold_
        return np.where(sure, self.classes_[np.argmax(proba, axis=1)], OTHER)
