"""A classifier over all classes of a taxonomy: RULES, section 2.

Several hundred or a thousand classes, each with a hundred or so example pages. Naive Bayes stores only the seen terms
of each class, so memory grows with the examples and not with classes times vocabulary.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher_papers.judges.estimators.base import Floats, Matrix
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes
from thresher_papers.judges.focus import Scores, hard_focus


class TaxonomyClassifier(WeightedNaiveBayes):
    """Naive Bayes over the classes of a taxonomy, with soft and hard focus.

    Probabilities are calibrated, since thresholds would have no effect otherwise. Parameters: see `WeightedNaiveBayes`.
    """

    def __init__(
        self, *, alpha: float = 1.0, calibrate: bool = True, held_out: float = 0.2, random_state: Any = None
    ) -> None:
        super().__init__(alpha=alpha, calibrate=calibrate, held_out=held_out, random_state=random_state)

    def predict_scores(self, X: Matrix) -> list[Scores]:
        labels = self.classes_.tolist()
        return [dict(zip(labels, row, strict=True)) for row in self.predict_proba(X).tolist()]

    def soft_focus(self, X: Matrix, targets: Set[Any]) -> Floats:
        """Return each page's relevance: the sum of the probabilities of the target classes."""
        wanted = np.isin(self.classes_, list(targets))
        return np.asarray(np.minimum(self.predict_proba(X)[:, wanted].sum(axis=1), 1.0))

    def hard_focus(self, X: Matrix, targets: Set[Any], *, least: float = 0.5) -> NDArray[np.bool_]:
        return np.array([hard_focus(scores, targets, least=least) for scores in self.predict_scores(X)], dtype=bool)
