"""The label of each page of a web, predicted from a text about it and from the labels of all other pages.

The model is ridge regression of the labels (1 on topic, 0 otherwise). With the hat matrix H of all pages, the
prediction for page i by the model that was fitted without it is y_i - (y_i - (Hy)_i) / (1 - H_ii), so no model is
fitted again. Features belong to the web, not to a topic: they are computed once.

Features and labels are measured from their means over the web, and there is no intercept: one that is learned without
page i would be lower for targets than for other pages, and rank pages whose text says nothing by their own label.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular  # type: ignore[import-untyped]

from thresher.linkgraph import Mask
from thresher.strategies.link_model.term_model import end_of
from thresher.text.tokens import tokenize
from thresher.text.word_vectors import WordVectors, load_word_vectors
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web

PARAGRAPH_CHARACTERS = 1000
"""Of a page's text, which starts with headings: about its first paragraph."""
MAX_TERMS = 30_000
"""Terms with a TF-IDF weight, the most frequent ones."""
TERM_DIMENSIONS = 500
"""Of the singular value decomposition of the TF-IDF matrix."""
VECTOR_DIMENSIONS, VECTOR_GAMMA = 600, 0.25
"""Of the Nyström approximation of a Gaussian kernel on word vectors, exp(-gamma · |a - b|²)."""
TERM_SHARE = 0.25
"""Scale of the TF-IDF features beside those of word vectors."""
RIDGE = 1.0

Floats = NDArray[np.float64]


class LeaveOneOutRidge:
    """Ridge regression whose prediction for each row is made without that row.

    Args:
        features: One row per page.
        ridge: Weight of the squared coefficients.
    """

    def __init__(self, features: Floats, *, ridge: float = RIDGE) -> None:
        X = features - features.mean(axis=0)
        lower = np.linalg.cholesky(X.T @ X + ridge * np.eye(X.shape[1]))
        self._root: Floats = solve_triangular(lower, X.T, lower=True).T  # H = root · rootᵀ
        self._leverage: Floats = np.einsum("ij,ij->i", self._root, self._root)

    def predict(self, labels: Mask) -> Floats:
        """Return how far the label of each row is above the mean, predicted from the labels of all other rows."""
        y = labels - labels.mean()
        fitted = self._root @ (self._root.T @ y)
        predicted: Floats = y - (y - fitted) / (1 - self._leverage)
        return predicted


class TextPredictions:
    """Predictions for all pages of a web, by their paragraphs or by the text of the links to them.

    Args:
        vectors: Pretrained word vectors; None for link text by TF-IDF alone.
    """

    def __init__(self, web: Web, pages: ParsedPages, *, vectors: WordVectors | None = None) -> None:
        self._web = web
        self._pages = pages
        self._vectors = vectors

    @classmethod
    def with_word_vectors(cls, web: Web, pages: ParsedPages) -> TextPredictions:
        """Use the word vectors of the package."""
        return cls(web, pages, vectors=load_word_vectors())

    @cached_property
    def by_paragraph(self) -> LeaveOneOutRidge:
        """Reads the title and the beginning of each page, as TF-IDF."""
        return LeaveOneOutRidge(term_features([tokenize(text) for text in self._texts[0]]))

    @cached_property
    def by_link_text(self) -> LeaveOneOutRidge:
        """Reads the anchors of all links to each page and the end of its URL, as TF-IDF and as word vectors."""
        documents = [tokenize(" ".join(names)) for names in self._texts[1]]
        terms = term_features(documents)
        if self._vectors is None:
            return LeaveOneOutRidge(terms)
        return LeaveOneOutRidge(np.column_stack([vector_features(documents, self._vectors), TERM_SHARE * terms]))

    @property
    def has_word_vectors(self) -> bool:
        """Whether link text is read as word vectors too."""
        return self._vectors is not None

    @cached_property
    def _texts(self) -> tuple[list[str], list[dict[str, None]]]:
        """The paragraph of each page, and the different texts that stand for it in links; one pass over the web."""
        urls = list(self._web.urls())
        numbers = {url: number for number, url in enumerate(urls)}
        paragraphs, names = [], [{end_of(url): None} for url in urls]
        for number, url in enumerate(urls):
            found = self._pages.get(url)
            paragraphs.append(f"{found[0].title} {found[0].text[:PARAGRAPH_CHARACTERS]}" if found else "")
            for link in found[0].links if found else ():
                target = numbers.get(link.url, number)
                if target != number:
                    names[target][link.anchor] = None
        return paragraphs, names


def term_features(documents: Sequence[Sequence[str]]) -> Floats:
    """Return the TF-IDF of each document, reduced by a singular value decomposition; no columns without any term."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
    from sklearn.utils.extmath import randomized_svd  # type: ignore[import-untyped]

    if not any(documents):
        return np.zeros((len(documents), 0))
    weigh: Any = TfidfVectorizer(analyzer=list, sublinear_tf=True, max_features=MAX_TERMS)
    X = weigh.fit_transform(documents)
    U, s, _ = randomized_svd(X, min(TERM_DIMENSIONS, *X.shape), n_iter=4, random_state=0)
    reduced: Floats = U * s
    return reduced


def vector_features(documents: Sequence[Sequence[str]], vectors: WordVectors) -> Floats:
    """Return features of each document whose products approximate a Gaussian kernel on its word vector."""
    from sklearn.kernel_approximation import Nystroem  # type: ignore[import-untyped]

    embedded = np.array([vectors.embed_terms(terms) for terms in documents], dtype=np.float64)
    kernel: Any = Nystroem(gamma=VECTOR_GAMMA, n_components=min(VECTOR_DIMENSIONS, len(embedded)), random_state=0)
    features: Floats = kernel.fit_transform(embedded)
    return features
