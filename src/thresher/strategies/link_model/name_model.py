"""Features of a URL's name by pretrained word vectors: how similar it is to the titles of judged pages.

The name of a URL is the text of its links and the end of its address. A crawl of five pages has seen few words, but
their vectors say which other words are similar. Judged pages are the examples, by their titles. A name is compared with
them in four ways:

    discriminant   linear discriminant analysis: examples on and off the topic, spread of all names known
    near, far      mean cosine with the three nearest examples on the topic, and off it
    phrase, seeds  cosine with the topic's phrase, and with the mean of the seeds' titles

Each is standardised over the names of known URLs, and 0 where a name has no word with a vector.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.strategies.link_model.term_model import MAX_WORDS, TermModel
from thresher.text.word_vectors import Floats, WordVectors, unit_length

NAME_FEATURES = ("vec_line", "vec_near", "vec_far", "vec_phrase", "vec_seeds")
NEAREST = 3
MAX_NAMES, MIN_NAMES = 1_500, 10
"""Names that the mean and the covariance are estimated from."""
MAX_SAMPLED = 300
"""Names that features are standardised over."""
SHRINKAGE, SHRINKAGE_NAMES = 0.5, 100.0
"""Shrinkage of the covariance towards a multiple of the identity: with many names, and for how many it adds 1."""
BACKGROUND_PAGES = 8.0
"""Pages off the topic that the mean of all names counts for."""
MAX_EXAMPLES = 128
"""The latest examples on the topic, and off it, that names are compared with; twice as many are remembered."""
MIN_LENGTH = 1e-3
"""A name that differs from the mean of all by less has no direction."""
RELEVANT = 0.5
MIN_RELEVANCE = 0.5
"""The sum of all examples' relevance from which there is a model."""


class NameModel:
    """Vectors of names, and what they tell about a URL.

    Args:
        vectors: The table of word vectors; None for none, then all features are 0.
        words: The numbers of words, which names are made of.
        phrase: The topic's phrase.
    """

    def __init__(self, vectors: WordVectors | None, words: TermModel, phrase: str) -> None:
        self._vectors = vectors
        self._words = words
        self.width = vectors.width if vectors else 1
        self._rows = np.zeros(MAX_WORDS if vectors else 1, dtype=np.int32)
        self._known = 0
        self._examples: dict[int, tuple[Floats, float]] = {}
        self._seeds: list[Floats] = []
        self._phrase = np.zeros(self.width, dtype=np.float32)
        if vectors and phrase:
            self._phrase = self.embed(words.of([phrase])[0][None, :])[0]
        self._middle = np.zeros(self.width, dtype=np.float32)
        self._covariance: Floats | None = None
        self._sample = np.zeros((0, self.width), dtype=np.float32)
        self._model: _Discriminant | None = None

    @property
    def is_active(self) -> bool:
        """Whether there is a table of word vectors."""
        return self._vectors is not None

    def embed(self, ids: NDArray[np.integer]) -> Floats:
        """Return the vector of each row of word numbers, of length 1; zeros where no word has a vector."""
        if self._vectors is None:
            return np.zeros((len(ids), self.width), dtype=np.float32)
        new = self._words.terms_from(self._known)
        self._rows[self._known + 1 : self._known + len(new) + 1] = self._vectors.rows(new)
        self._known += len(new)
        return self._vectors.embed(self._rows.take(ids))

    def add(self, key: int, vector: Floats, relevance: float, *, is_seed: bool = False) -> None:
        """Add a judged page as an example, by the vector of its title."""
        if vector.any():
            self._examples[key] = (vector, relevance)
            if is_seed:
                self._seeds.append(vector)
            if len(self._examples) > 4 * MAX_EXAMPLES:
                del self._examples[next(iter(self._examples))]

    def has(self, key: int) -> bool:
        """Return whether a page is an example."""
        return key in self._examples

    def revise(self, key: int, relevance: float) -> None:
        """Update the relevance of an example."""
        if key in self._examples:
            self._examples[key] = (self._examples[key][0], relevance)

    def estimate_spread(self, names: NDArray[np.float16]) -> None:
        """Estimate mean and covariance of names, from the sums of the vectors of all known URLs."""
        if not self.is_active or len(names) < MIN_NAMES:
            return
        if len(names) > MAX_NAMES:
            names = names[np.random.default_rng(len(names)).choice(len(names), MAX_NAMES, replace=False)]
        vectors = names.astype(np.float32)
        vectors = unit_length(vectors[vectors.any(axis=1)])
        if len(vectors) < MIN_NAMES:
            return
        self._middle = vectors.mean(axis=0)
        centred = vectors - self._middle
        covariance: Floats = (centred.T @ centred / len(vectors)).astype(np.float32)
        if np.trace(covariance) < MIN_LENGTH:  # all names are alike
            return
        shrinkage = SHRINKAGE + SHRINKAGE_NAMES / len(vectors)
        covariance[np.diag_indices(self.width)] += shrinkage * np.trace(covariance) / self.width
        self._covariance = covariance
        self._sample = centred[:: max(1, len(centred) // MAX_SAMPLED)]

    def fit(self) -> None:
        """Learn from the examples so far."""
        self._model = None
        if self._covariance is None or not self._examples:
            return
        titles = np.array([vector for vector, _ in self._examples.values()], dtype=np.float32) - self._middle
        relevance = np.array([each for _, each in self._examples.values()], dtype=np.float32)
        if relevance.sum() < MIN_RELEVANCE:
            return
        on = relevance @ titles / relevance.sum()
        off = (1 - relevance) @ titles / ((1 - relevance).sum() + BACKGROUND_PAGES)
        seeds = unit_length(np.mean(self._seeds, axis=0) - self._middle) if self._seeds else np.zeros_like(on)
        is_on = relevance >= RELEVANT
        self._model = _Discriminant(
            directions=np.stack([np.linalg.solve(self._covariance, on - off), self._phrase, seeds]),
            near=unit_length(titles[is_on][-MAX_EXAMPLES:]),
            far=unit_length(titles[~is_on][-MAX_EXAMPLES:]),
            sample=self._sample,
        )

    def features(self, names: NDArray[np.float16]) -> Floats:
        """Return the features of URLs by the sums of their names' vectors, a row for each."""
        if self._model is None:
            return np.zeros((len(names), len(NAME_FEATURES)), dtype=np.float32)
        vectors = unit_length(names.astype(np.float32))
        is_unknown = vectors[:, 0] == 0  # the first number of a known name is hardly ever exactly 0
        vectors -= self._middle
        features = self._model.features(vectors)
        features[is_unknown] = 0.0
        return features

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the examples, for a restart."""
        vectors = np.array([vector for vector, _ in self._examples.values()], dtype=np.float16)
        return {
            "name_keys": np.array(list(self._examples), dtype=np.int64),
            "name_vectors": vectors.reshape(-1, self.width),
            "name_relevance": np.array([each for _, each in self._examples.values()], dtype=np.float16),
            "name_seeds": np.array(self._seeds, dtype=np.float16).reshape(-1, self.width),
        }

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> None:
        """Restore the result of `state`; entries of older versions, or of another table, do not have it."""
        if "name_keys" not in state or state["name_vectors"].shape[1:] != (self.width,):
            return
        vectors = np.asarray(state["name_vectors"], dtype=np.float32)
        relevance = np.asarray(state["name_relevance"], dtype=np.float64).tolist()
        for key, vector, each in zip(state["name_keys"].tolist(), vectors, relevance, strict=True):
            self.add(key, vector, each)
        self._seeds = list(np.asarray(state["name_seeds"], dtype=np.float32))


class _Discriminant:
    """What was learned from the examples.

    Args:
        directions: The direction of the discriminant, the phrase and the mean of the seeds.
        near: Titles on the topic, of length 1.
        far: Titles off the topic, of length 1.
        sample: Centred names, over which features are standardised.
    """

    def __init__(self, *, directions: Floats, near: Floats, far: Floats, sample: Floats) -> None:
        self._columns = np.concatenate([directions, near, far]).T.copy()  # one product is cheaper than three
        self._near = slice(len(directions), len(directions) + len(near))
        self._far = slice(self._near.stop, self._near.stop + len(far))
        raw = self._raw(sample)
        self._mean, self._deviation = raw.mean(axis=0), raw.std(axis=0) + np.float32(1e-3)

    def features(self, names: Floats) -> Floats:
        """Return the features of centred names."""
        standardised: Floats = (self._raw(names) - self._mean) / self._deviation
        return standardised

    def _raw(self, names: Floats) -> Floats:
        lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", names, names)), np.float32(MIN_LENGTH))
        products: Floats = names @ self._columns
        near, far = (_nearest(products, lengths, columns) for columns in (self._near, self._far))
        return np.stack([products[:, 0], near, far, products[:, 1] / lengths, products[:, 2] / lengths], axis=1)


def _nearest(products: Floats, lengths: Floats, columns: slice) -> Floats:
    """Return the mean of the largest cosines of each row, by their products with some columns."""
    size = columns.stop - columns.start
    if not size:
        return np.zeros(len(products), dtype=np.float32)
    if compiled and size >= NEAREST:
        nearest: Floats = compiled.nearest(products, lengths, columns.start, columns.stop)
        return nearest
    largest = products[:, columns]
    if size > NEAREST:
        largest = np.sort(np.partition(largest, -NEAREST, axis=1)[:, -NEAREST:], axis=1)
    mean: Floats = (largest / lengths[:, None]).mean(axis=1)
    return mean
