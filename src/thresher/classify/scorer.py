"""Scoring one page at a time by a plain sparse dot product, as the pipeline it was made from would.

A pipeline of scikit-learn takes some milliseconds for a single page, nearly all of it checks and conversions. What
is left of it here are a vocabulary, a factor per term, and the weights that each term has for each class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.classify.sections import Counts, Sectioned, weighted_counts
from thresher.records import Word

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False)
class PlainScorer:
    """A trained linear model of text, for one page at a time and without scikit-learn.

    A term with count tf weighs `tf·idf·gain`, over the length of all `tf·idf` of the page. Each class scores its
    intercept, the weights times its own values, and a constant for every unit of weight.

    Args:
        labels: The classes.
        vocabulary: The row of each term.
        sections: How much an occurrence counts in each section of a page.
        idf: A factor per term, inside the length.
        gain: A factor per term, outside the length.
        unit_length: Whether the length is divided by.
        sublinear: Whether `1 + ln tf` takes the place of tf.
        starts: Where each term's values begin; one number more than terms.
        columns: The classes that the values belong to.
        values: What each term says for a class.
        per_weight: What one unit of any term says for each class.
        intercept: What each class scores on an empty page.
        by_length: Whether scores are divided by the weight of the page, when that is above 1.
        temperature: What scores are multiplied with.
        probabilistic: Whether scores are logarithms of probabilities, and not margins.
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
        """Count the terms of a page as the model wants them."""
        return weighted_counts(source, self.sections)

    def scores(self, counts: Counts) -> dict[Any, float]:
        """Give every class its score."""
        return dict(zip(self.labels, self._scores(counts).tolist(), strict=True))

    def probabilities(self, counts: Counts) -> dict[Any, float]:
        """Give every class its probability.

        Raises:
            TypeError: The model has margins and no probabilities.
        """
        if not self.probabilistic:
            raise TypeError("this model has margins and no probabilities; ask for its scores")
        scores = self._scores(counts)
        proba = np.exp(scores - scores.max())
        return dict(zip(self.labels, (proba / proba.sum()).tolist(), strict=True))

    def best(self, counts: Counts) -> Any:
        """Give the class with the highest score."""
        return self.labels[int(np.argmax(self._scores(counts)))]

    def words(self, counts: Counts, label: Any) -> list[Word]:
        """Say what each word of the page adds to a class beyond what it adds to the others, weightiest first."""
        rows, weights = self._weigh(counts)
        scale = self.temperature / self._length(weights)
        margins = [self._margin(row, self.labels.index(label)) for row in rows.tolist()]
        names = [term for term in counts if term in self.vocabulary]
        found = [
            Word(term=term, weight=float(scale * weight * margin))
            for term, weight, margin in zip(names, weights, margins, strict=True)
        ]
        return sorted((word for word in found if word.weight), key=lambda word: -abs(word.weight))

    def term_weights(self) -> dict[str, float] | dict[str, tuple[float, ...]]:
        """Give what one count of each term is worth, before the page's length is divided by.

        With two classes that is one number, for the second class against the first; otherwise one per class.
        """
        factors = self.idf * self.gain
        if len(self.labels) == 2:
            return {term: float(factors[row] * self._margin(row, 1)) for term, row in self.vocabulary.items()}
        return {term: tuple((factors[row] * self._row(row)).tolist()) for term, row in self.vocabulary.items()}

    def _scores(self, counts: Counts) -> Floats:
        rows, weights = self._weigh(counts)
        starts = self.starts[rows]
        lengths = self.starts[rows + 1] - starts
        picked = np.repeat(starts - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        products = np.repeat(weights, lengths) * self.values[picked]
        said = np.bincount(self.columns[picked], weights=products, minlength=len(self.labels))
        joint = self.intercept + said + weights.sum() * self.per_weight
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

    def _row(self, row: int) -> Floats:
        part = slice(self.starts[row], self.starts[row + 1])
        said = self.per_weight.copy()
        said[self.columns[part]] += self.values[part]
        return said

    def _margin(self, row: int, number: int) -> float:
        said = self._row(row)
        others = (said.sum() - said[number]) / max(len(said) - 1, 1)
        return float(said[number] - others)
