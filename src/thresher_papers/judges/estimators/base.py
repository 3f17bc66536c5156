"""Base classes, types and input validation of the estimators over term counts.

scikit-learn and scipy have no type annotations, so a matrix is `Any` here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.feature_selection import SelectorMixin  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted, validate_data  # type: ignore[import-untyped]


class CountsEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator over counts: sparse, and never negative."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


class CountsClassifier(ClassifierMixin, CountsEstimator):  # type: ignore[misc]
    """A classifier over counts."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the data of scikit-learn's checks are not counts
        return tags


class TermSelector(SelectorMixin, CountsEstimator):  # type: ignore[misc]
    """A supervised selector of terms; `fit` sets `support_`."""

    support_: NDArray[np.bool_]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


Matrix = Any
"""Rows are documents and columns are terms: a scipy sparse matrix, or anything array-like."""

Labels = Any
"""One class per row."""

Floats = NDArray[np.float64]


def check_counts(estimator: Any, X: Matrix, y: Labels = "no_validation", *, reset: bool = True) -> Any:
    """Validate counts or weights, and return them as a CSR matrix, with the labels if there are any.

    Raises:
        ValueError: A count is negative, or scikit-learn rejects the input.
    """
    checked = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    X = sparse.csr_matrix(X)
    if X.nnz and X.data.min() < 0:
        raise ValueError(f"Negative values in data passed to {type(estimator).__name__}: counts are at least 0")
    return X if y is None else (X, y)


def check_labelled_counts(estimator: Any, X: Matrix, y: Labels) -> tuple[Matrix, Any]:
    """Validate counts and classes, set `classes_`, and return counts and classes.

    Raises:
        ValueError: See `check_counts`; or the labels are not classes.
    """
    X, y = check_counts(estimator, X, y)
    check_classification_targets(y)
    estimator.classes_ = np.unique(y)
    return X, y


def document_counts(X: Matrix) -> Matrix:
    """Return 1 for every count above 0."""
    present = X.copy()
    present.eliminate_zeros()
    present.data = np.ones_like(present.data)
    return present


def indicator(y: Labels, classes: Any) -> Matrix:
    """Return one row per class, with a 1 for each of its documents."""
    numbers = np.asarray(np.searchsorted(classes, y))
    ones = np.ones(len(numbers))
    return sparse.csr_matrix((ones, (numbers, np.arange(len(numbers)))), shape=(len(classes), len(numbers)))
