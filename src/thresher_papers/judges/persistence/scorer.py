"""Scoring of single pages by a sparse dot product, with the same results as the original scikit-learn pipeline.

A scikit-learn pipeline takes some milliseconds for a single page, nearly all of it for checks and conversions. This
keeps only a vocabulary, a factor per term, and the weight of each term for each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.records import TermWeight
from thresher_papers.judges.estimators.sections import Counts, Sectioned, weighted_counts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainScorer:
    """A trained linear text model that scores one page at a time, without scikit-learn.

    A term with count tf has the weight `tf·idf·gain`, divided by the norm of all `tf·idf` of the page. The score of a
    class is its intercept, plus the weights times its values, plus a constant for every unit of weight.

    Args:
        labels: The classes.
        vocabulary: The row of each term.
        sections: The weight of an occurrence in each section of a page.
        idf: A factor per term that enters the norm.
        gain: A factor per term that does not.
        unit_length: Whether weights are divided by the norm.
        sublinear: Whether tf is replaced by `1 + ln tf`.
        starts: The index of each term's first value, and the number of values at the end.
        columns: The class of each value.
        values: The weights of terms for classes.
        per_weight: For each class, what one unit of any term's weight adds.
        intercept: For each class, the score of an empty page.
        by_length: Whether scores are divided by the total weight of the page, when that is above 1.
        temperature: A factor of all scores.
        probabilistic: Whether scores are log-probabilities, not margins.
    """

    labels: Sequence[Any]
    vocabulary: Mapping[str, int]
    sections: Mapping[str, float]
    idf: Floats
    gain: Floats
    unit_length: bool
    sublinear: bool
    starts: Integers
    columns: Integers
    values: Floats
    per_weight: Floats
    intercept: Floats
    by_length: bool
    temperature: float
    probabilistic: bool

    def count(self, source: Sectioned) -> dict[str, float]:
        """Count the terms of a page with the section weights of the model."""
        return weighted_counts(source, self.sections)

    def scores(self, counts: Counts) -> dict[Any, float]:
        return dict(zip(self.labels, self._scores(counts).tolist(), strict=True))

    def probabilities(self, counts: Counts) -> dict[Any, float]:
        """Return the probability of every class.

        Raises:
            TypeError: The model has margins and no probabilities.
        """
        if not self.probabilistic:
            raise TypeError("this model has margins and no probabilities; use scores()")
        scores = self._scores(counts)
        proba = np.exp(scores - scores.max())
        return dict(zip(self.labels, (proba / proba.sum()).tolist(), strict=True))

    def best(self, counts: Counts) -> Any:
        return self.labels[int(np.argmax(self._scores(counts)))]

    def words(self, counts: Counts, label: Any) -> list[TermWeight]:
        """Return what each term adds to a class beyond the mean of the others, by descending absolute weight."""
        rows, weights = self._weigh(counts)
        scale = self.temperature / self._length(weights)
        margins = [self._margin(row, self.labels.index(label)) for row in rows.tolist()]
        names = [term for term in counts if term in self.vocabulary]
        found = [
            TermWeight(term=term, weight=float(scale * weight * margin))
            for term, weight, margin in zip(names, weights, margins, strict=True)
        ]
        return sorted((word for word in found if word.weight), key=lambda word: -abs(word.weight))

    def term_weights(self) -> dict[str, float] | dict[str, tuple[float, ...]]:
        """Return the weight of one occurrence of each term, before normalisation by the page's length.

        With two classes that is one number, for the second class against the first; otherwise one per class.
        """
        factors = self.idf * self.gain
        if len(self.labels) == 2:
            return {term: float(factors[row] * self._margin(row, 1)) for term, row in self.vocabulary.items()}
        return {term: tuple((factors[row] * self.contributions(row)).tolist()) for term, row in self.vocabulary.items()}

    def contributions(self, row: int) -> Floats:
        """Return what one unit of a term's weight adds to each class."""
        part = slice(self.starts[row], self.starts[row + 1])
        contributions = self.per_weight.copy()
        contributions[self.columns[part]] += self.values[part]
        return contributions

    def _scores(self, counts: Counts) -> Floats:
        rows, weights = self._weigh(counts)
        starts = self.starts[rows]
        lengths = self.starts[rows + 1] - starts
        picked = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        products = np.repeat(weights, lengths) * self.values[picked]
        contributions = np.bincount(self.columns[picked], weights=products, minlength=len(self.labels))
        joint = self.intercept + contributions + weights.sum() * self.per_weight
        return np.asarray(self.temperature * joint / self._length(weights))

    def _weigh(self, counts: Counts) -> tuple[Integers, Floats]:
        vocabulary = self.vocabulary
        known = {vocabulary[term]: tf for term, tf in counts.items() if term in vocabulary}
        rows = np.fromiter(known, dtype=np.int64, count=len(known))
        tf = np.fromiter(known.values(), dtype=np.float64, count=len(known))
        tf_idf = (1.0 + np.log(tf) if self.sublinear else tf) * self.idf[rows]
        if self.unit_length:
            length = np.sqrt(tf_idf @ tf_idf)
            tf_idf = tf_idf / length if length > 0 else np.zeros_like(tf_idf)
        return rows, tf_idf * self.gain[rows]

    def _length(self, weights: Floats) -> float:
        return max(float(weights.sum()), 1.0) if self.by_length else 1.0

    def _margin(self, row: int, number: int) -> float:
        contributions = self.contributions(row)
        others = (contributions.sum() - contributions[number]) / max(len(contributions) - 1, 1)
        return float(contributions[number] - others)
