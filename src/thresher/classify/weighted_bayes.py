"""Naive Bayes over weighted terms: LPE, section 3.3, equations 9 and 10.

Weights stand in for counts, and all classes share one vocabulary. Only what a class has seen is stored, as
`log(alpha + n_tC) - log(alpha)`; every other term of a class has the same probability. So a thousand classes cost
as much memory as their examples have words, not a thousand times the vocabulary.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from scipy.optimize import minimize_scalar  # type: ignore[import-untyped]
from scipy.special import logsumexp  # type: ignore[import-untyped]
from sklearn.base import ClassifierMixin  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher.classify.matrices import Floats, Labels, Matrix, check_counts, indicator
from thresher.classify.of_counts import OfCounts

MAX_CALIBRATION_PAGES = 5_000
"""One number is found from held-out pages; more of them would only cost memory, a number per page and class."""


class WeightedNaiveBayes(ClassifierMixin, OfCounts):  # type: ignore[misc]
    """Multinomial naive Bayes with Laplace smoothing, whose probabilities can be made to mean something.

    Plain naive Bayes multiplies the evidence of every word as if it were new, and ends at 0 or 1 on any page of some
    length. Calibrated, the log of class and words together is divided by the number of words, and multiplied by a
    temperature that fits pages which were held out. The winner stays the same.

    Args:
        alpha: How much every term of the vocabulary is counted in every class beforehand.
        calibrate: Whether probabilities are scaled by length and temperature.
        held_out: Share of each class that is held out to find the temperature.
        random_state: Draws the pages that are held out.
    """

    def __init__(
        self, *, alpha: float = 1.0, calibrate: bool = False, held_out: float = 0.2, random_state: Any = None
    ) -> None:
        self.alpha = alpha
        self.calibrate = calibrate
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Matrix, y: Labels) -> Self:
        """Learn priors and words of the classes, and the temperature if it is asked for."""
        if self.alpha <= 0:
            raise ValueError(f"alpha must be above 0, got {self.alpha}")
        X, y = check_counts(self, X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self.temperature_ = 1.0
        if self.calibrate:
            self.temperature_ = self._find_temperature(X, y)
        self._count(X, y)
        return self

    def _find_temperature(self, X: Matrix, y: Labels) -> float:
        out = draw_held_out(y, self.held_out, self.random_state)
        if not out.any():
            return 1.0
        self._count(X[~out], y[~out])
        asked = np.flatnonzero(out)
        asked = asked[:: -(-len(asked) // MAX_CALIBRATION_PAGES)]
        return fit_temperature(self._joint(X[asked]), np.searchsorted(self.classes_, y[asked]))

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
        """`log P(t|C)`, one row per class, written out in full."""
        return np.asarray(self.seen_log_ratio_.toarray() + self.unseen_log_prob_[:, None])

    def _joint(self, X: Matrix) -> Floats:
        """Give `log P(C) + Σ w·log P(t|C)`; calibrated, per unit of weight, and before the temperature."""
        weight = np.asarray(X.sum(axis=1)).ravel()
        seen = (X @ self.seen_log_ratio_.T).toarray()
        joint = self.class_log_prior_ + seen + weight[:, None] * self.unseen_log_prob_
        return np.asarray(joint / np.maximum(weight, 1.0)[:, None] if self.calibrate else joint)

    def predict_joint_log_proba(self, X: Matrix) -> Floats:
        """Give the logarithm of what each class is worth, before the classes are made to add up to 1."""
        check_is_fitted(self)
        X = check_counts(self, X, reset=False)
        return self.temperature_ * self._joint(X)

    def predict_log_proba(self, X: Matrix) -> Floats:
        """Give the logarithm of the probability of each class."""
        joint = self.predict_joint_log_proba(X)
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def predict_proba(self, X: Matrix) -> Floats:
        """Give the probability of each class."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Matrix) -> Any:
        """Give the most likely class."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[np.argmax(joint, axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # the suite's data are not counts
        return tags


def draw_held_out(y: Labels, share: float, random_state: Any) -> NDArray[np.bool_]:
    """Draw a share of every class, at least one page, and never all of it."""
    if not 0 < share < 1:
        raise ValueError(f"held_out must lie between 0 and 1, got {share}")
    order = check_random_state(random_state).permutation(len(y))
    _, classes, sizes = np.unique(y[order], return_inverse=True, return_counts=True)
    by_class = np.argsort(classes, kind="stable")
    place = np.empty(len(y), dtype=np.int64)  # of each page in the random order of its own class
    place[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = np.minimum(np.maximum(np.rint(share * sizes), 1), sizes - 1)
    out = np.zeros(len(y), dtype=bool)
    out[order] = place < wanted[classes]
    return out


def fit_temperature(joint: Floats, truth: NDArray[np.intp]) -> float:
    """Find the factor of the joint logarithms that makes the true classes most likely.

    Two pages are added, one that is told right and one that is told wrong: without them, pages on which there is no
    mistake at all would ask for an endless factor.
    """
    pages, classes = joint.shape
    doubt = 1.0 / (pages + 2)
    right = joint[np.arange(pages), truth]
    others = (joint.sum(axis=1) - right) / max(classes - 1, 1)
    aim = (1 - doubt) * right + doubt * others

    def log_loss(log_temperature: float) -> float:
        temperature = np.exp(log_temperature)
        return float(np.mean(logsumexp(temperature * joint, axis=1) - temperature * aim))

    found = minimize_scalar(log_loss, bounds=(np.log(1e-3), np.log(1e4)), method="bounded")
    return float(np.exp(found.x))
