"""Pruning of the feature space by mutual information: LPE, section 3.1, equation 2."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from thresher_papers.judges.estimators.base import (
    Floats,
    Labels,
    Matrix,
    TermSelector,
    check_labelled_counts,
    document_counts,
    indicator,
)


class MutualInformationPruner(TermSelector):
    """Keep the terms with the highest mutual information with some class.

    `MI(t, C) = log(p(t, C) / (p(t) p(C)))` over documents; the maximum over the classes that contain the term counts.
    Rare terms reach the highest values by chance, so they are removed before.

    Args:
        k: How many terms to keep, ties by document frequency; all when None.
        threshold: Keep only terms above this; no bound when None.
        min_document_frequency: Terms in fewer documents are removed first.
    """

    def __init__(
        self, *, k: int | None = 8_000, threshold: float | None = None, min_document_frequency: int = 3
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.min_document_frequency = min_document_frequency

    def fit(self, X: Matrix, y: Labels) -> Self:
        if self.k is not None and self.k < 1:
            raise ValueError(f"k must be at least 1, got {self.k}")
        X, y = check_labelled_counts(self, X, y)
        present = document_counts(X)
        self.document_frequency_: NDArray[np.int64] = np.asarray(present.sum(axis=0)).ravel().astype(np.int64)
        self.mutual_information_ = mutual_information(present, indicator(y, self.classes_))
        self.support_ = self._choose()
        return self

    def _choose(self) -> NDArray[np.bool_]:
        enough = self.document_frequency_ >= max(self.min_document_frequency, 1)
        if self.threshold is not None:
            enough &= self.mutual_information_ > self.threshold
        candidates = np.flatnonzero(enough)
        order = np.lexsort((-self.document_frequency_[candidates], -self.mutual_information_[candidates]))
        support = np.zeros(len(enough), dtype=bool)
        support[candidates[order[: self.k]]] = True
        return support


def mutual_information(present: Matrix, of_class: Matrix) -> Floats:
    """Return for each term its highest mutual information with a class; minus infinity for a term without documents.

    Args:
        present: One row per document, 1 for each of its terms.
        of_class: One row per class, 1 for each of its documents.
    """
    N = present.shape[0]
    p_t = np.asarray(present.sum(axis=0)).ravel() / N
    p_C = np.asarray(of_class.sum(axis=1)).ravel() / N
    together = (of_class @ present).tocoo()
    MI = np.log(together.data / N / (p_t[together.col] * p_C[together.row]))
    best = np.full(present.shape[1], -np.inf)
    np.maximum.at(best, together.col, MI)
    return best
