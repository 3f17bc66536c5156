"""Conversion of a fitted scikit-learn pipeline to a `PlainScorer` with the same results."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
from thresher_papers.judges.estimators.itfidf import ItfIdf
from thresher_papers.judges.estimators.layers import LayerClassifier
from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes
from thresher_papers.judges.persistence.scorer import PlainScorer

SELECTORS = (MutualInformationPruner, ChiSquareSelector)


def flatten(pipeline: Any) -> PlainScorer:
    """Make a plain scorer from a fitted pipeline: a counter, selectors, at most one weighting, a classifier.

    Raises:
        TypeError: A step is of another kind, or the order is another one.
    """
    counter, *middle, classifier = [step for _, step in pipeline.steps]
    if not isinstance(counter, SectionCounter):
        raise TypeError(f"the first step must be a SectionCounter, not {type(counter).__name__}")
    weighting = middle.pop() if middle and not isinstance(middle[-1], SELECTORS) else None
    terms = _kept(counter.get_feature_names_out(), middle)
    if isinstance(classifier, LayerClassifier):
        if weighting is not None:
            raise TypeError("a LayerClassifier selects its terms itself, so no weighting may come before it")
        terms, classifier = terms[classifier.support_], classifier.bayes_
    return PlainScorer(
        vocabulary={term: row for row, term in enumerate(terms.tolist())},
        sections=dict(counter.weights),
        **_factors(weighting, len(terms)),
        **_linear(classifier),
    )


def term_weights(pipeline: Any) -> dict[str, float] | dict[str, tuple[float, ...]]:
    """Return the term weights of a fitted pipeline; see `PlainScorer.term_weights`."""
    return flatten(pipeline).term_weights()


def _kept(terms: Any, selectors: list[Any]) -> Any:
    for selector in selectors:
        if not isinstance(selector, SELECTORS):
            raise TypeError(f"a {type(selector).__name__} cannot be flattened, at least not at this position")
        terms = terms[selector.get_support()]
    return terms


def _factors(weighting: Any, terms: int) -> dict[str, Any]:
    even = np.ones(terms)
    if weighting is None:
        return {"idf": even, "gain": even, "unit_length": False, "sublinear": False}
    if isinstance(weighting, ItfIdf):
        return {"idf": weighting.idf_, "gain": weighting.gain_, "unit_length": True, "sublinear": False}
    if isinstance(weighting, TfidfTransformer) and weighting.norm == "l2":
        idf = weighting.idf_ if weighting.use_idf else even
        return {"idf": idf, "gain": even, "unit_length": True, "sublinear": bool(weighting.sublinear_tf)}
    raise TypeError(f"a {type(weighting).__name__} cannot be flattened")


def _linear(classifier: Any) -> dict[str, Any]:
    if isinstance(classifier, WeightedNaiveBayes):
        return {
            **_by_term(classifier.seen_log_ratio_),
            "labels": classifier.classes_.tolist(),
            "per_weight": classifier.unseen_log_prob_,
            "intercept": classifier.class_log_prior_,
            "by_length": bool(classifier.calibrate),
            "temperature": float(classifier.temperature_),
            "probabilistic": True,
        }
    if isinstance(classifier, LinearSVC | LogisticRegression):
        coefficients, intercept = _both_sides(classifier)
        return {
            **_by_term(coefficients),
            "labels": classifier.classes_.tolist(),
            "per_weight": np.zeros(len(intercept)),
            "intercept": intercept,
            "by_length": False,
            "temperature": 1.0,
            "probabilistic": isinstance(classifier, LogisticRegression),
        }
    raise TypeError(f"a {type(classifier).__name__} cannot be flattened")


def _both_sides(classifier: Any) -> tuple[Any, Any]:
    """Return coefficients and intercepts for every class; of two classes, the first one has zeros."""
    coefficients, intercept = classifier.coef_, np.broadcast_to(classifier.intercept_, len(classifier.coef_))
    if len(coefficients) > 1:
        return coefficients, np.array(intercept)
    return np.vstack([np.zeros_like(coefficients), coefficients]), np.array([0.0, float(intercept[0])])


def _by_term(by_class: Any) -> dict[str, Any]:
    values = sparse.csc_matrix(by_class)
    values.sum_duplicates()
    return {
        "starts": values.indptr.astype(np.int64),
        "columns": values.indices.astype(np.int64),
        "values": values.data.astype(np.float64),
    }
