"""Naive Bayes over weighted terms: LPE, section 3.3, equations 9 and 10.

Weights are used in place of counts, and all classes share one vocabulary. Only the seen terms of a class are stored, as
`log(alpha + n_tC) - log(alpha)`; all other terms of a class have the same probability. So the memory for a thousand
classes grows with the terms of their examples, not with a thousand times the vocabulary.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]
from scipy.special import logsumexp  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher_papers.judges.estimators.base import (
    CountsClassifier,
    Floats,
    Labels,
    Matrix,
    check_counts,
    check_labelled_counts,
    indicator,
)

MAX_CALIBRATION_PAGES = 5_000
"""Held-out pages used for the temperature: a single number needs no more, and memory grows with pages times classes."""


class WeightedNaiveBayes(CountsClassifier):
    """Multinomial naive Bayes with Laplace smoothing and optional calibration.

    Plain naive Bayes treats every word as independent evidence, so the probabilities of longer pages are near 0 or 1.
    Calibrated, the joint log-probability is divided by the number of words, and multiplied by a temperature fitted to
    held-out pages. The most likely class stays the same.

    Args:
        alpha: Laplace smoothing.
        calibrate: Whether probabilities are scaled by length and temperature.
        held_out: Share of each class that is held out to fit the temperature.
        random_state: Seed for the held-out pages.
    """

    def __init__(
        self, *, alpha: float = 1.0, calibrate: bool = False, held_out: float = 0.2, random_state: Any = None
    ) -> None:
        self.alpha = alpha
        self.calibrate = calibrate
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn priors and term probabilities of the classes, and the temperature if calibrating."""
        if self.alpha <= 0:
            raise ValueError(f"alpha must be above 0, got {self.alpha}")
        X, y = check_labelled_counts(self, X, y)
        self.temperature_ = 1.0
        if self.calibrate:
            self.temperature_ = self._find_temperature(X, y)
        self._count(X, y)
        return self

    def _find_temperature(self, X: Matrix, y: Labels) -> float:
        out = sample_held_out(y, self.held_out, self.random_state)
        if not out.any():
            return 1.0
        self._count(X[~out], y[~out])
        chosen = np.flatnonzero(out)
        chosen = chosen[:: -(-len(chosen) // MAX_CALIBRATION_PAGES)]
        return fit_temperature(self._joint(X[chosen]), np.searchsorted(self.classes_, y[chosen]))

    def _count(self, X: Matrix, y: Labels) -> None:
        of_class = indicator(y, self.classes_)
        N_i = np.asarray(of_class.sum(axis=1)).ravel()
        n_tC = sparse.csr_matrix(of_class @ X)
        n_C = np.asarray(n_tC.sum(axis=1)).ravel()
        self.class_log_prior_: Floats = np.log(N_i / N_i.sum())
        self.unseen_log_prob_: Floats = np.log(self.alpha) - np.log(self.alpha * X.shape[1] + n_C)
        n_tC.data = np.log(self.alpha + n_tC.data) - np.log(self.alpha)
        self.seen_log_ratio_ = n_tC

    @property
    def feature_log_prob_(self) -> Floats:
        """`log P(t|C)` as a dense matrix, one row per class."""
        return np.asarray(self.seen_log_ratio_.toarray() + self.unseen_log_prob_[:, None])

    def _joint(self, X: Matrix) -> Floats:
        """Return `log P(C) + Σ w·log P(t|C)`; calibrated, per unit of weight, and before the temperature."""
        weight = np.asarray(X.sum(axis=1)).ravel()
        seen = (X @ self.seen_log_ratio_.T).toarray()
        joint = self.class_log_prior_ + seen + weight[:, None] * self.unseen_log_prob_
        return np.asarray(joint / np.maximum(weight, 1.0)[:, None] if self.calibrate else joint)

    def predict_joint_log_proba(self, X: Matrix) -> Floats:
        """Return the joint log-probability of each class, before normalisation."""
        check_is_fitted(self)
        X = check_counts(self, X, reset=False)
        return self.temperature_ * self._joint(X)

    def predict_log_proba(self, X: Matrix) -> Floats:
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Matrix) -> Floats:
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Matrix) -> Any:
        joint = self.predict_joint_log_proba(X)
        return self.classes_[np.argmax(joint, axis=1)]


def sample_held_out(y: Labels, share: float, random_state: Any) -> NDArray[np.bool_]:
    """Sample a share of every class, at least one page, and never all of it."""
    if not 0 < share < 1:
        raise ValueError(f"held_out must be between 0 and 1, got {share}")
    order = check_random_state(random_state).permutation(len(y))
    _, classes, sizes = np.unique(y[order], return_inverse=True, return_counts=True)
    by_class = np.argsort(classes, kind="stable")
    place = np.empty(len(y), dtype=np.int64)  # of each page in the random order of its class
    place[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.minimum(np.maximum(np.rint(share * sizes), 1), sizes - 1)
    out = np.zeros(len(y), dtype=bool)
    out[order] = place < wanted[classes]
    return out


def fit_temperature(joint: Floats, truth: NDArray[np.intp]) -> float:
    """Return the factor of the joint log-probabilities that maximises the likelihood of the true classes.

    Two pages are added, one classified correctly and one incorrectly: without them, pages without any error would
    require an infinite factor.
    """
    pages, classes = joint.shape
    doubt = 1.0 / (pages + 2)
    right = joint[np.arange(pages), truth]
    others = (joint.sum(axis=1) - right) / max(classes - 1, 1)
    target = (1 - doubt) * right + doubt * others

    def log_loss(log_temperature: float) -> float:
        temperature = np.exp(log_temperature)
        return float(np.mean(logsumexp(temperature * joint, axis=1) - temperature * target))

    found = minimize_scalar(log_loss, bounds=(np.log(1e-3), np.log(1e4)), method="bounded")
    return float(np.exp(found.x))
