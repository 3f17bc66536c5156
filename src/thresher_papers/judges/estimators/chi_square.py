"""Selection of terms by chi-square: LAYERS, section 3.2.

This is the test on the contingency table of documents, with and without the term, inside and outside the class.
scikit-learn's function of the same name computes another statistic, on sums of counts.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from thresher_papers.judges.estimators.base import (
    Floats,
    Labels,
    Matrix,
    TermSelector,
    check_labelled_counts,
    document_counts,
    indicator,
)


class ChiSquareSelector(TermSelector):
    """Select the best terms for each class by chi-square; the result is their union.

    Args:
        per_class: How many terms to keep for each class; ties by document frequency, then by column.
    """

    def __init__(self, *, per_class: int = 500) -> None:
        self.per_class = per_class

    def fit(self, X: Matrix, y: Labels) -> Self:
        if self.per_class < 1:
            raise ValueError(f"per_class must be at least 1, got {self.per_class}")
        X, y = check_labelled_counts(self, X, y)
        present = document_counts(X)
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
    """Return chi-square of terms for one class; 0 for those that are not positively correlated with it.

    Args:
        A: Document frequency of each term in the class.
        frequency: Document frequency in all classes.
        size: Number of documents of the class.
        N: Number of documents.
    """
    B = frequency - A
    C = size - A
    D = N - size - B
    margins = (A + B) * (C + D) * (A + C) * (B + D)
    speaks_for = (A * D > B * C) & (margins > 0)
    return np.divide(N * (A * D - B * C) ** 2, margins, out=np.zeros(len(A)), where=speaks_for)
