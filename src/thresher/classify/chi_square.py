"""Choosing terms by chi-square: LAYERS, section 3.2.

This is the test on a table of documents, with and without the term, inside and outside the class. scikit-learn's
function of the same name computes another statistic, on sums of counts.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]

from thresher.classify.matrices import Floats, Labels, Matrix, check_counts, document_counts, indicator
from thresher.classify.of_counts import TermSelector


class ChiSquareSelector(TermSelector):
    """Keep, for each class, the terms that speak for it most surely; the classes' choices are united.

    Args:
        per_class: How many terms to keep for each class; those in more documents first when they are equal.
    """

    def __init__(self, *, per_class: int = 500) -> None:
        self.per_class = per_class

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn which terms to keep from labelled counts."""
        if self.per_class < 1:
            raise ValueError(f"per_class must be at least 1, got {self.per_class}")
        X, y = check_counts(self, X, y)
        check_classification_targets(y)
        present = document_counts(X)
        self.classes_ = np.unique(y)
        frequency = np.asarray(present.sum(axis=0)).ravel()
        of_class = indicator(y, self.classes_)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        for documents, with_term in zip(of_class, (of_class @ present).tocsr(), strict=True):
            terms = with_term.indices
            chi = chi_square(with_term.data, frequency[terms], size=documents.sum(), N=X.shape[0])
            order = np.lexsort((terms, -frequency[terms], -chi))[: self.per_class]
            self.support_[terms[order[chi[order] > 0]]] = True
        return self


def chi_square(A: Floats, frequency: Floats, *, size: float, N: int) -> Floats:
    """Give chi-square of terms for one class; 0 for those that do not speak for it.

    Args:
        A: In how many documents of the class each term stands.
        frequency: In how many documents of all classes it stands.
        size: How many documents the class has.
        N: How many documents there are.
    """
    B = frequency - A
    C = size - A
    D = N - size - B
    margins = (A + B) * (C + D) * (A + C) * (B + D)
    speaks_for = (A * D > B * C) & (margins > 0)
    return np.divide(N * (A * D - B * C) ** 2, margins, out=np.zeros(len(A)), where=speaks_for)
