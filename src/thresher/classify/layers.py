"""Which layer a page stands in, that is how many links from a target: LAYERS, section 3.2.

Naive Bayes over the terms that chi-square chooses, with one class for each distance 0 to N. Pages that belong to no
layer cannot be collected for training, so "other" is a winner that is not sure enough.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher.classify.chi_square import ChiSquareSelector
from thresher.classify.matrices import Floats, Labels, Matrix, check_counts
from thresher.classify.of_counts import OfCounts
from thresher.classify.weighted_bayes import WeightedNaiveBayes, draw_held_out

OTHER = -1
"""The layer of a page that belongs to none."""


class LayerClassifier(ClassifierMixin, OfCounts):  # type: ignore[misc]
    """Tell a page's distance from the targets by its words.

    `predict` always names a layer, as scikit-learn asks of a classifier; `predict_layers` also says "other".

    Args:
        per_class: How many terms chi-square keeps for each layer.
        alpha: Smoothing of naive Bayes.
        reject: Share of held-out training pages whose winner is to be too unsure.
        held_out: Share of each layer that is held out for temperature and threshold.
        random_state: Draws the pages that are held out.
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
        """Learn the terms and words of the layers, and how sure a winner must be."""
        if not 0 <= self.reject < 1:
            raise ValueError(f"reject must be at least 0 and below 1, got {self.reject}")
        X, y = check_counts(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        out = draw_held_out(y, self.held_out, self.random_state)
        self._learn(X[~out], y[~out])
        temperature = self.bayes_.temperature_
        self.threshold_ = 0.0
        if self.reject and out.any():
            self.threshold_ = float(np.quantile(self._proba(X[out]).max(axis=1), self.reject))
        self._learn(X, y)
        self.bayes_.temperature_ = temperature  # the threshold was found under this one
        return self

    def _learn(self, X: Matrix, y: Labels) -> None:
        chosen = ChiSquareSelector(per_class=self.per_class).fit(X, y).support_
        self.support_: NDArray[np.bool_] = chosen if chosen.any() else np.ones_like(chosen)  # better all than none
        self.bayes_ = WeightedNaiveBayes(
            alpha=self.alpha, calibrate=True, held_out=self.held_out, random_state=self.random_state
        ).fit(self._chosen(X), y)

    def _chosen(self, X: Matrix) -> Matrix:
        return X[:, self.support_]

    def _proba(self, X: Matrix) -> Floats:
        return np.asarray(self.bayes_.predict_proba(self._chosen(X)))

    def predict_proba(self, X: Matrix) -> Floats:
        """Give the probability of each layer."""
        check_is_fitted(self)
        return self._proba(check_counts(self, X, reset=False))

    def predict(self, X: Matrix) -> Any:
        """Give the most likely layer, however unsure."""
        winners = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[winners]

    def predict_layers(self, X: Matrix) -> NDArray[np.int64]:
        """Give the most likely layer, or `OTHER` where it is not likely enough."""
        proba = self.predict_proba(X)
        sure = proba.max(axis=1) >= self.threshold_
        return np.where(sure, self.classes_[np.argmax(proba, axis=1)], OTHER)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the suite's data are not counts
        return tags
