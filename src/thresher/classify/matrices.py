"""The types of the learners' inputs, and the one thing that all of them check.

scikit-learn and scipy come without types, so a matrix is anything here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.utils.validation import validate_data  # type: ignore[import-untyped]

Matrix = Any
"""Rows are documents and columns are terms: a scipy sparse matrix, or anything that scikit-learn takes for an array."""

Labels = Any
"""One class per row."""

Floats = NDArray[np.float64]


def check_counts(estimator: Any, X: Matrix, y: Labels = "no_validation", *, reset: bool = True) -> Any:
    """Check rows of counts or weights, and return them as a sparse matrix of rows, with the labels if there are any.

    Raises:
        ValueError: A count is negative, or scikit-learn has something against the input.
    """
    checked = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
    X, y = checked if isinstance(checked, tuple) else (checked, None)
    X = sparse.csr_matrix(X)
    if X.nnz and X.data.min() < 0:
        raise ValueError(f"Negative values in data passed to {type(estimator).__name__}: counts are at least 0")
    return X if y is None else (X, y)


def document_counts(X: Matrix) -> Matrix:
    """Say in which documents each term stands: 1 for every count above 0."""
    present = X.copy()
    present.eliminate_zeros()
    present.data = np.ones_like(present.data)
    return present


def indicator(y: Labels, classes: Any) -> Matrix:
    """Give one row per class, with a 1 for each of its documents."""
    numbers = np.asarray(np.searchsorted(classes, y))
    ones = np.ones(len(numbers))
    return sparse.csr_matrix((ones, (numbers, np.arange(len(numbers)))), shape=(len(classes), len(numbers)))
