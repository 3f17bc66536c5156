"""Training on a few positive examples and many unlabelled pages (PU learning): the part that needs scikit-learn.

Unlabelled pages are used as the negative class, though some of them are positive. So both classes get the same total
weight, and training has two passes: in the second one an unlabelled page weighs less the more likely it was in the
first. Scores become probabilities by a logistic function (Platt, 1999) fitted to cross-validated scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from thresher.judges.adaptive.topic_model import weighted_deviation
from thresher_papers.judges.estimators.base import Floats, Matrix
from thresher_papers.judges.estimators.itfidf import ItfIdf
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes
from thresher_papers.judges.persistence.flatten import flatten
from thresher_papers.judges.trained.examples import TrainingPages
from thresher_papers.judges.trained.learner import TrainedModel

Truths = NDArray[np.bool_]
Steps = Sequence[Any]
"""Fitted steps of a pipeline; the last one is the classifier."""

Fit = Callable[[Matrix, Truths, Floats], Steps]
"""Fits the steps to counts, classes and sample weights."""

MIN_PAGES = 3
"""Minimum document frequency of a term."""
FOLDS = 5
PASSES = 2
MIN_SLOPE = 0.5
"""Minimum increase of the log-odds per standard deviation of the margins: a few unusual examples must not make all
probabilities equal."""


class NothingToLearn(ValueError):
    """The pages share no terms."""


def train(pages: TrainingPages, fit: Fit) -> tuple[TrainedModel, Floats] | None:
    """Train a model; return it with the probability of each page of the sample, or None without common terms."""
    X, (yes, no) = _counts(pages), pages.labels()
    likely = np.zeros(len(yes))
    try:
        frequent = _prune(X, yes, k=None, min_document_frequency=MIN_PAGES)  # once, because most terms are rare
        X = frequent.transform(X)
        for _ in range(PASSES):
            weights = balanced(yes, no, likely, pages.sample.pages_each())
            margins = left_out_margins(X, yes, weights, fit)
            slope, offset = fit_logistic(margins, yes, weights)
            likely = expit(slope * margins + offset)
        steps = fit(X, yes, weights)
    except NothingToLearn:
        return None
    counter = SectionCounter()
    counter.vocabulary_ = dict(pages.sample.terms)
    parts = [("count", counter), ("frequent", frequent), *((f"step {n}", step) for n, step in enumerate(steps))]
    probabilities = expit(np.clip(slope * _margins(steps, X) + offset, -50, 50))
    probabilities[_unknown(steps[:-1], X)] = 0.0
    return TrainedModel(scorer=flatten(Pipeline(parts)), slope=slope, offset=offset), probabilities


def svm(C: float) -> Fit:
    """Return a function that fits a linear SVM to sublinear TFIDF."""

    def fit(X: Matrix, y: Truths, weights: Floats) -> Steps:
        weigh = TfidfTransformer(sublinear_tf=True).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the calibration compensates for the rest
            machine = LinearSVC(C=C, random_state=0).fit(weigh.transform(X), y, weights)
        return weigh, machine

    return fit


def itfidf_bayes(terms: int, smoothing: float) -> Fit:
    """Return a function that fits naive Bayes with equal priors to the best terms, weighted by ITFIDF."""

    def fit(X: Matrix, y: Truths, weights: Floats) -> Steps:
        prune = _prune(X, y, k=terms, min_document_frequency=MIN_PAGES)
        weigh = ItfIdf().fit(prune.transform(X))
        weighed = sparse.diags_array(weights) @ weigh.transform(prune.transform(X))
        bayes = WeightedNaiveBayes(alpha=smoothing).fit(weighed, y)
        bayes.class_log_prior_ = np.log([0.5, 0.5])
        bayes.set_params(calibrate=True)  # normalises by length from now on; the logistic function sets the temperature
        return prune, weigh, bayes

    return fit


def balanced(yes: Truths, no: Truths, likely: Floats, pages: Floats | None = None) -> Floats:
    """Return sample weights: equal totals for positive and unlabelled pages, and 1 for each negative page.

    An unlabelled page weighs less the more likely it is; with `pages`, also by the number of pages it represents.
    """
    weights = np.where(yes, 1.0, (1.0 - likely) * (1.0 if pages is None else pages))
    unlabelled = ~yes & ~no
    for group in (yes, unlabelled):
        weights[group] *= len(yes) / 2 / max(weights[group].sum(), 1e-9)
    weights[no] = 1.0
    return weights


def left_out_margins(X: Matrix, y: Truths, weights: Floats, fit: Fit) -> Floats:
    """Return cross-validated margins; a single positive example is in the training set of every fold."""
    folds = np.empty(len(y), dtype=np.int64)
    for value in (True, False):
        own = np.flatnonzero(y == value)
        folds[own] = np.arange(len(own)) % FOLDS
    if y.sum() == 1:
        folds[y] = FOLDS
    margins = np.empty(len(y))
    for fold in range(FOLDS):
        out = folds == fold
        if out.any():
            steps = fit(X[~out], y[~out], weights[~out])
            margins[out | (folds == FOLDS)] = _margins(steps, X[out | (folds == FOLDS)])
    return margins


def fit_logistic(margins: Floats, y: Truths, weights: Floats) -> tuple[float, float]:
    """Return slope and offset of the log-odds, fitted to smoothed targets (Platt)."""
    target = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))
    spread = weighted_deviation(margins, weights) or 1.0  # makes the fit independent of the scale of the margins
    twice = np.concatenate([margins, margins])[:, None] / spread
    labels = np.repeat([True, False], len(y))
    logistic = LogisticRegression(C=1e3).fit(twice, labels, np.concatenate([weights * target, weights * (1 - target)]))
    return max(float(logistic.coef_[0, 0]), MIN_SLOPE) / spread, float(logistic.intercept_[0])


def _prune(X: Matrix, y: Truths, **settings: Any) -> MutualInformationPruner:
    if not X.shape[1]:
        raise NothingToLearn
    prune = MutualInformationPruner(**settings).fit(X, y)
    if not prune.support_.any() or not prune.transform(X)[y].nnz:
        raise NothingToLearn
    return prune


def _margins(steps: Steps, X: Matrix) -> Floats:
    *before, classifier = steps
    for step in before:
        X = step.transform(X)
    if isinstance(classifier, WeightedNaiveBayes):
        joint = classifier.predict_joint_log_proba(X)
        return np.asarray(joint[:, 1] - joint[:, 0])
    return np.asarray(classifier.decision_function(X))


def _unknown(before: Steps, X: Matrix) -> Truths:
    """Return which pages contain no selected term."""
    for step in before:
        X = step.transform(X) if isinstance(step, MutualInformationPruner) else X
    return np.asarray(np.diff(X.indptr) == 0)


def _counts(pages: TrainingPages) -> Matrix:
    """Return the sample as a sparse matrix, one column per term."""
    terms: Mapping[str, int] = pages.sample.terms
    matrix = pages.sample.matrix()
    shape = (len(matrix.lengths), len(terms))
    X = sparse.csr_matrix((matrix.weights, matrix.numbers, matrix.starts), shape=shape)
    X.sort_indices()
    return X
