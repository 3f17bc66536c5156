"""A vectorizer of pages: term counts weighted by section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse  # type: ignore[import-untyped]
from sklearn.base import BaseEstimator, TransformerMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from thresher_papers.judges.estimators.base import Labels, Matrix
from thresher_papers.judges.estimators.sections import Sectioned, weighted_counts


class SectionCounter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Count the terms of pages, English stems and Chinese bigrams in one vocabulary; LPE, equation 3.

    The input is pages, or mappings from section to text; plain texts are bodies.

    Args:
        headline: Weight of title and first heading.
        keywords: Weight of the page's own keywords.
        anchor: Weight of the text in links.
        body: Weight of the rest.
    """

    def __init__(self, *, headline: float = 4.0, keywords: float = 3.0, anchor: float = 2.0, body: float = 1.0) -> None:
        self.headline = headline
        self.keywords = keywords
        self.anchor = anchor
        self.body = body

    @property
    def weights(self) -> Mapping[str, float]:
        return {"headline": self.headline, "keywords": self.keywords, "anchor": self.anchor, "body": self.body}

    def fit(self, sources: Iterable[Sectioned], y: Labels = None) -> Self:
        self.fit_transform(sources, y)
        return self

    def fit_transform(self, sources: Iterable[Sectioned], y: Labels = None, **_: Any) -> Matrix:
        """Learn the vocabulary, in alphabetical order, and count."""
        if min(self.weights.values()) < 0:
            raise ValueError(f"the weights of sections must be at least 0, got {self.weights}")
        counted = self._count(sources)
        terms = sorted({term for counts in counted for term in counts})
        self.vocabulary_ = {term: column for column, term in enumerate(terms)}
        return self._rows(counted)

    def transform(self, sources: Iterable[Sectioned]) -> Matrix:
        check_is_fitted(self)
        return self._rows(self._count(sources))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        check_is_fitted(self)
        return np.array(list(self.vocabulary_), dtype=object)

    def _count(self, sources: Iterable[Sectioned]) -> list[dict[str, float]]:
        if isinstance(sources, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        weights = self.weights
        return [weighted_counts(source, weights) for source in sources]

    def _rows(self, counted: list[dict[str, float]]) -> Matrix:
        vocabulary = self.vocabulary_
        known = [{vocabulary[term]: tf for term, tf in counts.items() if term in vocabulary} for counts in counted]
        columns = [column for row in known for column in row]
        values = [tf for row in known for tf in row.values()]
        ends = np.cumsum([0, *map(len, known)])
        matrix = sparse.csr_matrix((np.array(values, dtype=np.float64), columns, ends), (len(known), len(vocabulary)))
        matrix.sort_indices()
        return matrix

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class CountedAlready(SectionCounter):
    """A vectorizer of pages whose terms are counted already: mappings from term to weighted count."""

    def _count(self, sources: Iterable[Any]) -> list[dict[str, float]]:
        return list(map(dict, sources))
