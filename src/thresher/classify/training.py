"""Training on a handful of examples and a crowd of pages of which nobody knows: the part that needs scikit-learn.

The crowd is taken for what the topic is not, but some of it is. So examples and crowd weigh the same in sum, and
everything is done twice: the second time each page of the crowd weighs less the more likely it seemed the first time.
Scores become probabilities by a logistic (Platt, 1999) that is fitted to the scores of pages that were left out.
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

from thresher.classify.flatten import flatten
from thresher.classify.itfidf import ItfIdf
from thresher.classify.matrices import Floats, Matrix
from thresher.classify.mutual_information import MutualInformationPruner
from thresher.classify.section_counter import SectionCounter
from thresher.classify.trained_model import TrainedModel
from thresher.classify.training_pages import TrainingPages
from thresher.classify.weighted_bayes import WeightedNaiveBayes

Truths = NDArray[np.bool_]
Steps = Sequence[Any]
"""Fitted parts, each working on what the one before gives; the last one is the classifier."""

Fit = Callable[[Matrix, Truths, Floats], Steps]
"""Fits the parts to counts, classes and the weights of pages."""

LEAST_PAGES = 3
"""Terms that stand in fewer pages are left out."""
FOLDS = 5
PASSES = 2
LEAST_SLOPE = 0.5
"""By which log-odds grow with a standard deviation of the margins at least: a handful of odd examples must not make all
pages alike."""


class NothingToLearn(ValueError):
    """The pages share no terms."""


def train(pages: TrainingPages, fit: Fit) -> tuple[TrainedModel, Floats] | None:
    """Train a model; return it with the probability of each page of the sample, or None when nothing can be learned."""
    X, (yes, no) = _counts(pages), pages.labels()
    likely = np.zeros(len(yes))
    try:
        frequent = _prune(X, yes, k=None, min_document_frequency=LEAST_PAGES)  # once: most terms are rare
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
    """Make what fits a linear SVM to sublinear TFIDF."""

    def fit(X: Matrix, y: Truths, weights: Floats) -> Steps:
        weigh = TfidfTransformer(sublinear_tf=True).fit(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the logistic mends what is left
            machine = LinearSVC(C=C, random_state=0).fit(weigh.transform(X), y, weights)
        return weigh, machine

    return fit


def itfidf_bayes(terms: int, smoothing: float) -> Fit:
    """Make what fits naive Bayes to the best terms, weighted by ITFIDF; both classes are as likely beforehand."""

    def fit(X: Matrix, y: Truths, weights: Floats) -> Steps:
        prune = _prune(X, y, k=terms, min_document_frequency=LEAST_PAGES)
        weigh = ItfIdf().fit(prune.transform(X))
        weighed = sparse.diags_array(weights) @ weigh.transform(prune.transform(X))
        bayes = WeightedNaiveBayes(alpha=smoothing).fit(weighed, y)
        bayes.class_log_prior_ = np.log([0.5, 0.5])
        bayes.set_params(calibrate=True)  # from here on by length; the logistic is its temperature
        return prune, weigh, bayes

    return fit


def balanced(yes: Truths, no: Truths, likely: Floats, pages: Floats | None = None) -> Floats:
    """Weigh pages: examples and crowd alike in sum, the crowd by how unlikely each page is, refused pages 1 each.

    With `pages`, a page of the crowd also weighs by how many pages it stands for.
    """
    weights = np.where(yes, 1.0, (1.0 - likely) * (1.0 if pages is None else pages))
    crowd = ~yes & ~no
    for group in (yes, crowd):
        weights[group] *= len(yes) / 2 / max(weights[group].sum(), 1e-9)
    weights[no] = 1.0
    return weights


def left_out_margins(X: Matrix, y: Truths, weights: Floats, fit: Fit) -> Floats:
    """Score every page by parts that were fitted without it; a single example is part of all of them."""
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
    """Find slope and offset of the log-odds, with targets that leave room for doubt, the more the fewer pages."""
    aim = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))
    spread = _deviation(margins, weights) or 1.0  # margins of any size are fitted alike
    twice = np.concatenate([margins, margins])[:, None] / spread
    labels = np.repeat([True, False], len(y))
    logistic = LogisticRegression(C=1e3).fit(twice, labels, np.concatenate([weights * aim, weights * (1 - aim)]))
    return max(float(logistic.coef_[0, 0]), LEAST_SLOPE) / spread, float(logistic.intercept_[0])


def _deviation(values: Floats, weights: Floats) -> float:
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


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
    """Tell which pages hold no term that was kept."""
    for step in before:
        X = step.transform(X) if isinstance(step, MutualInformationPruner) else X
    return np.asarray(np.diff(X.indptr) == 0)


def _counts(pages: TrainingPages) -> Matrix:
    """Give the sample as a sparse matrix, one column per term."""
    terms: Mapping[str, int] = pages.sample.terms
    matrix = pages.sample.matrix()
    shape = (len(matrix.lengths), len(terms))
    X = sparse.csr_matrix((matrix.weights, matrix.numbers, matrix.starts), shape=shape)
    X.sort_indices()
    return X
