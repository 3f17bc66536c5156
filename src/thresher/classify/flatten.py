"""From a fitted pipeline to a plain scorer that says the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

from thresher.classify.chi_square import ChiSquareSelector
from thresher.classify.itfidf import ItfIdf
from thresher.classify.layers import LayerClassifier
from thresher.classify.mutual_information import MutualInformationPruner
from thresher.classify.scorer import PlainScorer
from thresher.classify.section_counter import SectionCounter
from thresher.classify.weighted_bayes import WeightedNaiveBayes

SELECTORS = (MutualInformationPruner, ChiSquareSelector)


def flatten(pipeline: Any) -> PlainScorer:
    """Make a plain scorer from a fitted pipeline: a counter, selectors, a weighting if there is one, a classifier.

    Raises:
        TypeError: A step is of another kind, or stands in another order.
    """
    counter, *middle, classifier = [step for _, step in pipeline.steps]
    if not isinstance(counter, SectionCounter):
        raise TypeError(f"the first step must be a SectionCounter, not {type(counter).__name__}")
    weighting = middle.pop() if middle and not isinstance(middle[-1], SELECTORS) else None
    terms = _kept(counter.get_feature_names_out(), middle)
    if isinstance(classifier, LayerClassifier):
        if weighting is not None:
            raise TypeError("a LayerClassifier chooses its terms itself, so nothing may weigh them before")
        terms, classifier = terms[classifier.support_], classifier.bayes_
    return PlainScorer(
        vocabulary={term: row for row, term in enumerate(terms.tolist())},
        sections=dict(counter.weights),
        **_factors(weighting, len(terms)),
        **_linear(classifier),
    )


def term_weights(pipeline: Any) -> dict[str, float] | dict[str, tuple[float, ...]]:
    """Give what each term is worth in a fitted pipeline; see `PlainScorer.term_weights`."""
    return flatten(pipeline).term_weights()


def _kept(terms: Any, selectors: list[Any]) -> Any:
    for selector in selectors:
        if not isinstance(selector, SELECTORS):
            raise TypeError(f"a {type(selector).__name__} cannot be made plain, or stands in the wrong place")
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
    raise TypeError(f"a {type(weighting).__name__} cannot be made plain")


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
    raise TypeError(f"a {type(classifier).__name__} cannot be made plain")


def _both_sides(classifier: Any) -> tuple[Any, Any]:
    """Write weights and intercepts out for every class: of two, the first is what the second is held against."""
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
