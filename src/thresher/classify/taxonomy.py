"""A classifier over all classes of a taxonomy: RULES, section 2.

Several hundred or a thousand classes, each with a hundred or so example pages. Naive Bayes stores what each class
has seen, so memory grows with the examples and not with classes times vocabulary.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from thresher.classify.focus import Scores, hard_focus
from thresher.classify.matrices import Floats, Labels, Matrix
from thresher.classify.weighted_bayes import WeightedNaiveBayes


class TaxonomyClassifier(WeightedNaiveBayes):
    """Give every class of a taxonomy its score, and say how well pages fit some of them.

    Probabilities are calibrated, or no threshold would act; the parameters are those of `WeightedNaiveBayes`.
    """

    def __init__(
        self, *, alpha: float = 1.0, calibrate: bool = True, held_out: float = 0.2, random_state: Any = None
    ) -> None:
        super().__init__(alpha=alpha, calibrate=calibrate, held_out=held_out, random_state=random_state)

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn from the example pages of all classes."""
        super().fit(X, y)
        return self

    def predict_scores(self, X: Matrix) -> list[Scores]:
        """Give for each page every class with its probability."""
        labels = self.classes_.tolist()
        return [dict(zip(labels, row, strict=True)) for row in self.predict_proba(X).tolist()]

    def soft_focus(self, X: Matrix, targets: Set[Any]) -> Floats:
        """Give each page's relevance: the sum of the probabilities of the target classes."""
        wanted = np.isin(self.classes_, list(targets))
        return np.asarray(np.minimum(self.predict_proba(X)[:, wanted].sum(axis=1), 1.0))

    def hard_focus(self, X: Matrix, targets: Set[Any], *, least: float = 0.5) -> NDArray[np.bool_]:
        """Say for each page whether its links are followed."""
        return np.array([hard_focus(scores, targets, least=least) for scores in self.predict_scores(X)], dtype=bool)
