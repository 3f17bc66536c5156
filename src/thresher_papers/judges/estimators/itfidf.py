"""ITFIDF term weights: LPE, section 3.2, equations 4 to 8.

Entropies are over documents. The probability of a document is its share of all counts, and given a term its share of
that term's counts; so a term in few documents has a high gain, whatever their classes.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.base import (  # type: ignore[import-untyped]
    OneToOneFeatureMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher_papers.judges.estimators.base import (
    CountsEstimator,
    Floats,
    Labels,
    Matrix,
    check_counts,
    document_counts,
)


class ItfIdf(OneToOneFeatureMixin, TransformerMixin, CountsEstimator):  # type: ignore[misc]
    """Weigh the terms of a document: `w = tf·idf·IG / sqrt(Σ (tf·idf)²)`.

    A document whose terms all have the weight 0 becomes a zero vector.

    Args:
        use_gain: Whether to use the information gain; without it this is TFIDF of length 1.
    """

    def __init__(self, *, use_gain: bool = True) -> None:
        self.use_gain = use_gain

    def fit(self, X: Matrix, y: Labels = None) -> Self:
        """Learn idf and gain of every term from section-weighted counts; classes are ignored."""
        X = check_counts(self, X)
        n_t = np.asarray(document_counts(X).sum(axis=0)).ravel()
        self.idf_: Floats = np.log(X.shape[0] / np.maximum(n_t, 1)) * (n_t > 0)
        self.gain_: Floats = np.maximum(information_gain(X), 0.0) if self.use_gain else np.ones(X.shape[1])
        return self

    def transform(self, X: Matrix) -> Matrix:
        check_is_fitted(self)
        X = check_counts(self, X, reset=False)
        tf_idf = X @ sparse.diags_array(self.idf_)
        length = np.sqrt(np.asarray(tf_idf.multiply(tf_idf).sum(axis=1)).ravel())
        shrink = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return sparse.csr_matrix(sparse.diags_array(shrink) @ tf_idf @ sparse.diags_array(self.gain_))


def information_gain(X: Matrix) -> Floats:
    """Return `H(D) - H(D|t)` in bits for each term, unclipped; 0 for a term without documents.

    It is negative for a term that is distributed more evenly over the documents than their lengths are.
    """
    tf = sparse.csc_matrix(X)
    tf.eliminate_zeros()
    of_term = np.asarray(tf.sum(axis=0)).ravel()
    H_D = _entropy(np.asarray(tf.sum(axis=1)).ravel())
    tf_log_tf = sparse.csc_matrix((tf.data * np.log2(tf.data), tf.indices, tf.indptr), shape=tf.shape)
    seen = of_term > 0
    total = np.where(seen, of_term, 1.0)
    H_D_t = np.log2(total) - np.asarray(tf_log_tf.sum(axis=0)).ravel() / total  # -Σ p·log p, with p = tf / total
    return np.where(seen, H_D - H_D_t, 0.0)


def _entropy(counts: Floats) -> float:
    counts = counts[counts > 0]
    p = counts / counts.sum()
    return float(-(p * np.log2(p)).sum())
