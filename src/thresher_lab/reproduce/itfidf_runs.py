"""The runs of E7: naive Bayes over TFIDF, ITFIDF and the steps between them, on labelled texts; LPE, section 6.1.

Every way of weighing has the same pruning (mutual information, best 8,000) and the same naive Bayes, but for two rows
that keep all terms. ITFIDF differs from TFIDF in three ways at once, which are taken apart: sections, the shape of the
gain (which terms gain more) and its size (every vector becomes several times longer, so smoothing and priors weigh
less). Needs scikit-learn, and the corpora in the folder that THRESHER_WEBS names.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import StratifiedKFold  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from thresher_lab.reproduce.text_corpora import CORPORA, Corpus
from thresher_lab.statistics.result_rows import add_rows, read_rows
from thresher_papers.judges.estimators.itfidf import ItfIdf, information_gain
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes

logger = logging.getLogger(__name__)

ALPHAS = [10.0**exponent for exponent in np.arange(-4, 3.01, 0.5)]
FOLDS = 5
Row = dict[str, Any]
Bits = NDArray[np.bool_]


@dataclass(frozen=True)
class Method:
    """A way of weighing terms before naive Bayes.

    Args:
        sections: Whether sections weigh 4, 3, 2, 1; otherwise all weigh 1.
        weigh: Whether idf and unit length are applied at all.
        gain: Whether every term has its own gain.
        size: What all weights are multiplied with: ``mean`` gain, ``unmean`` (divided by it), or nothing.
        tuned: Whether smoothing is chosen by cross-validation on training data; otherwise it is 1.
        pruned: Whether the best 8,000 terms are kept; otherwise all that stand in three documents.
    """

    sections: bool = False
    weigh: bool = True
    gain: bool = False
    size: str = ""
    tuned: bool = False
    pruned: bool = True


METHODS: Mapping[str, Method] = {
    "counts": Method(weigh=False),
    "TFIDF": Method(),
    "sections only": Method(sections=True),
    "IG only": Method(gain=True),
    "ITFIDF": Method(sections=True, gain=True),
    "TFIDF x mean IG": Method(size="mean"),
    "IG / mean IG": Method(gain=True, size="unmean"),
    "counts, tuned": Method(weigh=False, tuned=True),
    "TFIDF, tuned": Method(tuned=True),
    "sections, tuned": Method(sections=True, tuned=True),
    "TFIDF x mean IG, tuned": Method(size="mean", tuned=True),
    "IG, tuned": Method(gain=True, tuned=True),
    "ITFIDF, tuned": Method(sections=True, gain=True, tuned=True),
    "TFIDF, tuned, all terms": Method(tuned=True, pruned=False),
    "ITFIDF, tuned, all terms": Method(sections=True, gain=True, tuned=True, pruned=False),
}
BASELINES = {
    "linear SVM": LinearSVC(C=1.0, random_state=0),
    "logistic regression": LogisticRegression(C=10.0, max_iter=1_000),
}
NAMES = [*METHODS, *BASELINES]


@dataclass(frozen=True)
class Problem:
    """One question with training and test documents: counts with even and with weighted sections, and labels."""

    even: tuple[Any, Any]
    weighted: tuple[Any, Any]
    y: NDArray[Any]

    def fold(self, rest: NDArray[np.intp], out: NDArray[np.intp]) -> Problem:
        """Part the training documents once more."""
        even, weighted = self.even[0], self.weighted[0]
        return Problem((even[rest], even[out]), (weighted[rest], weighted[out]), self.y[rest])


def weigh(problem: Problem, method: Method) -> tuple[Any, Any]:
    """Prune and weigh training and test documents; all is learned from the training documents."""
    pruner = MutualInformationPruner(k=8_000 if method.pruned else None)
    kept = pruner.fit(problem.even[0], problem.y).get_support()
    train, test = (X[:, kept] for X in (problem.weighted if method.sections else problem.even))
    if not method.weigh:
        return train, test
    weighting = ItfIdf(use_gain=method.gain).fit(train)
    mean = float(np.maximum(information_gain(train), 0).mean())
    factor = {"mean": mean, "unmean": 1 / mean}.get(method.size, 1.0)
    return weighting.transform(train) * factor, weighting.transform(test) * factor


def choose_alpha(problem: Problem, method: Method) -> float:
    """Choose smoothing by macro F1 in cross-validation on the training documents."""
    scores = np.zeros(len(ALPHAS))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for rest, out in folds.split(problem.even[0], problem.y):
        train, test = weigh(problem.fold(rest, out), method)
        for number, alpha in enumerate(ALPHAS):
            predicted = WeightedNaiveBayes(alpha=alpha).fit(train, problem.y[rest]).predict(test)
            scores[number] += _macro(problem.y[out], predicted)
    return float(ALPHAS[int(np.argmax(scores))])


def _macro(truth: NDArray[Any], predicted: NDArray[Any]) -> float:
    """Give macro F1; of a question with yes and no, F1 of yes."""
    classes = [True] if truth.dtype == bool else np.unique(truth)
    table = [np.column_stack([labels == name for name in classes]) for labels in (truth, predicted)]
    return float(f1(np.ones(len(truth)), *table).mean())


def f1(weights: NDArray[np.float64], truth: Bits, predicted: Bits) -> NDArray[np.float64]:
    """Give F1 of each class, over documents that count as often as their weights say."""
    hits = weights @ (truth & predicted)
    misses = weights @ (truth ^ predicted)
    return np.divide(2 * hits, 2 * hits + misses, out=np.zeros(hits.shape), where=hits > 0)


def predict(problem: Problem, name: str) -> tuple[NDArray[Any], float]:
    """Return the decisions of a method on the test documents, and its smoothing."""
    if name in BASELINES:
        return _predict_baseline(problem, name), 0.0
    method = METHODS[name]
    alpha = choose_alpha(problem, method) if method.tuned else 1.0
    train, test = weigh(problem, method)
    return WeightedNaiveBayes(alpha=alpha).fit(train, problem.y).predict(test), alpha


def _predict_baseline(problem: Problem, name: str) -> NDArray[Any]:
    train, test = problem.even
    frequent = np.asarray((train > 0).sum(axis=0)).ravel() >= 3
    weighting = TfidfTransformer(sublinear_tf=True).fit(train[:, frequent])
    classifier = BASELINES[name].fit(weighting.transform(train[:, frequent]), problem.y)
    answer: NDArray[Any] = classifier.predict(weighting.transform(test[:, frequent]))
    return answer


def run_split(corpus: Corpus, even: Any, weighted: Any, repeat: int) -> Row:
    """Run all methods on one split of a corpus."""
    train, test = corpus.splits[repeat]
    parts = {"even": (even[train], even[test]), "weighted": (weighted[train], weighted[test])}
    truth = corpus.labels[test]
    predictions: dict[str, Bits] = {}
    alphas: dict[str, Any] = {}
    for name in NAMES:
        started = time.perf_counter()
        if corpus.several_labels:
            answers = [predict(Problem(**parts, y=of_class), name) for of_class in corpus.labels[train].T]
            predictions[name] = np.column_stack([predicted for predicted, _ in answers])
            alphas[name] = [alpha for _, alpha in answers]
        else:
            predicted, alphas[name] = predict(Problem(**parts, y=corpus.labels[train].argmax(axis=1)), name)
            predictions[name] = predicted[:, None] == np.arange(len(corpus.classes))
        macro = 100 * f1(np.ones(len(test)), truth, predictions[name]).mean()
        seconds = time.perf_counter() - started
        logger.info("%s %d: %s: macro F1 %.1f in %.0f s", corpus.name, repeat, name, macro, seconds)
    return {
        "corpus": corpus.name,
        "repeat": repeat,
        "classes": corpus.classes,
        "train": len(train),
        "test": len(test),
        **_gain_facts(parts["weighted"][0], corpus, train, parts["even"][0]),
        "alpha": {name: alphas[name] for name in METHODS},
        "f1": {name: f1(np.ones(len(test)), truth, predictions[name]).round(5).tolist() for name in NAMES},
        "cells": cells_of([truth, *(predictions[name] for name in NAMES)]),
    }


def _gain_facts(weighted: Any, corpus: Corpus, train: NDArray[np.intp], even: Any) -> Row:
    y = corpus.labels[train].argmax(axis=1)
    kept = MutualInformationPruner().fit(even, y).get_support()
    weighting = ItfIdf().fit(weighted[:, kept])
    correlation = float(np.corrcoef(weighting.gain_, weighting.idf_)[0, 1])
    mean = float(weighting.gain_.mean())
    return {"terms": int(kept.sum()), "mean_gain": round(mean, 3), "gain_idf_correlation": round(correlation, 4)}


def cells_of(tables: Sequence[Bits]) -> dict[str, int]:
    """Count documents by what is true of them and what every method says, as digits of base 16."""
    powers = 1 << np.arange(tables[0].shape[1])
    masks = np.column_stack([table @ powers for table in tables])
    return dict(Counter("".join(f"{mask:03x}" for mask in row) for row in masks.tolist()))


def missing_splits(path: Path, corpora: Sequence[str] = ()) -> Iterator[tuple[Corpus, list[int]]]:
    """Yield corpora, by default all, with the numbers of their splits that are not in a file of rows."""
    done = {(row["corpus"], row["repeat"]) for row in read_rows(path)}
    for name in corpora or CORPORA:
        corpus = CORPORA[name]()
        if todo := [repeat for repeat in range(len(corpus.splits)) if (name, repeat) not in done]:
            yield corpus, todo


def run_corpora(path: Path, corpora: Sequence[str] = (), *, progress: Callable[[], None]) -> None:
    """Add the rows of all splits that are not in the file yet.

    Raises:
        OSError: A corpus cannot be read.
    """
    for corpus, todo in missing_splits(path, corpora):
        even = SectionCounter(headline=1, keywords=1, anchor=1, body=1).fit_transform(corpus.documents)
        weighted = SectionCounter().fit_transform(corpus.documents)
        for repeat in todo:
            add_rows(path, [run_split(corpus, even, weighted, repeat)])
            progress()
