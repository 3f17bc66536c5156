"""Statistics of each word about the topic: on fetched pages, on followed links, on the pages of these links.

Words are numbers here (`text.term_ids`), and their statistics are arrays of fixed size, so memory is bounded.

`NameModel` makes features of a URL's name by pretrained word vectors: how similar it is to the titles of judged pages.

The name of a URL is the text of its links and the end of its address. A crawl of five pages has seen few words, but
their vectors say which other words are similar. Judged pages are the examples, by their titles. A name is compared with
them in four ways:

    discriminant   linear discriminant analysis: examples on and off the topic, spread of all names known
    near, far      mean cosine with the three nearest examples on the topic, and off it
    phrase, seeds  cosine with the topic's phrase, and with the mean of the seeds' titles

Each is standardised over the names of known URLs, and 0 where a name has no word with a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.text.term_ids import Numbers, TermNumbers
from thresher.text.vectors import Vector, unit
from thresher.text.word_vectors import Floats, WordVectors, unit_length

MAX_WORDS = 1 << 17
NO_WORD = 0
NAME_WORDS = 8
"""Words of a link's anchor and address that are used."""
AROUND_WORDS = 16
"""Words around a link, and of the heading above it."""
ABOUT_WORDS = 32
"""Introductory words of a page."""
PAGE_CHARACTERS, ABOUT_CHARACTERS, CONTEXT_CHARACTERS, ANCHOR_CHARACTERS = 4_000, 600, 400, 200
MAX_EXTENSION_CHARACTERS = 5
"""Longest file extension, such as ``.html``, which is ignored."""
TRUST = 2.0
"""Shrinkage: occurrences of a word that weigh as much as the rate of all words together."""
RATE, FIRST_SQUARE = 0.3, 0.01
"""Learning rate of AdaGrad, and the initial value of its sums of squares."""
NAME, AROUND, ABOUT = range(3)
ALL_WORDS = np.array([NO_WORD, MAX_WORDS, 2 * MAX_WORDS])
"""Indices of the totals over all words."""
TERM_FEATURES = 4
"""Features of a word on a link: weight, lift, share, led."""

PLACE_BITS = 24
PLACES = (1 << PLACE_BITS) - 1
"""Largest position of a word among all words of a page's links."""

Ids = NDArray[np.int32]
Shares = NDArray[np.float32]


class TermModel:
    """Numbers of words, and statistics of each.

    weight: what it adds to the score of a link that it is on or around; learned by following links.
    lift:   how much likelier than others a page with the word is about the topic (logarithm, shrunk towards 0).
    share:  the share of relevant pages that have it, times how rare it is on links.
    led:    how much likelier than others a link with the word leads to the topic (logarithm, shrunk towards 0).
    """

    def __init__(self) -> None:
        self._numbers = TermNumbers(MAX_WORDS)
        self._pages = np.zeros(MAX_WORDS)
        self._relevant = np.zeros(MAX_WORDS)
        self._links = np.zeros(MAX_WORDS)
        self._tries = np.zeros((3, MAX_WORDS))
        self._successes = np.zeros((3, MAX_WORDS))
        self._weights = np.zeros((2, MAX_WORDS))
        self._squares = np.full((2, MAX_WORDS), FIRST_SQUARE)
        self._sums = np.zeros(2 * MAX_WORDS)  # scratch array: all zeros between two uses
        self._features = np.zeros((2, MAX_WORDS, TERM_FEATURES), dtype=np.float32)
        self._hubs = np.zeros(MAX_WORDS, dtype=np.float32)

    def weights_of(self, vector: Vector) -> NDArray[np.float64]:
        """Return a vector of terms (of `text.tokens.tokenize`), scaled to length 1, as an array by term numbers."""
        weights, directed = np.zeros(MAX_WORDS), unit(vector)
        weights[list(map(self._numbers.number, directed))] = list(directed.values())
        return weights

    def terms_from(self, start: int) -> list[str]:
        """Return the terms that were added after the first `start` terms, in the order of their numbers."""
        return self._numbers.terms_from(start)

    def of(self, texts: Sequence[str], language: str = "") -> tuple[Numbers, Numbers]:
        """Return the numbers of the words of some texts, in order, and the index of the text of each."""
        return self._numbers.of(texts, language)

    def of_page(self, text: str, language: str = "") -> Ids:
        """Return the numbers of the words at the beginning of a page."""
        numbers, _ = self._numbers.of([text[:PAGE_CHARACTERS]], language)
        return numbers.astype(np.int32)

    def read_page(self, words: Ids, relevance: float) -> None:
        """Count the words of a judged page; a repeated word counts once, because NumPy adds once per index."""
        self._pages[words] += 1
        self._pages[NO_WORD] += 1
        self.revise_page(words, relevance)

    def revise_page(self, words: Ids, change: float) -> None:
        """Update the counts of a page's words by the change of its relevance."""
        self._relevant[words] += change
        self._relevant[NO_WORD] += change

    def see_links(self, names: Ids) -> None:
        """Count the words of links, to know which are rare."""
        np.add.at(self._links, names.ravel(), 1.0)
        self._links[NO_WORD] += len(names) - np.count_nonzero(names == NO_WORD)

    def follow(self, names: Ids, contexts: Ids, introductions: Ids, *, relevance: float, error: float) -> None:
        """Learn from the outcome of a URL and the error of its score, for some links to it."""
        words = [names.ravel(), contexts.ravel() + MAX_WORDS, introductions.ravel() + 2 * MAX_WORDS]
        met = np.concatenate([*words, ALL_WORDS])
        self._tries.ravel()[met] += 1  # a repeated word counts once: NumPy adds once per index
        self._successes.ravel()[met] += relevance
        steps = [np.repeat(error / len(ids) / np.sqrt(_many(ids)), ids.shape[1]) for ids in (names, contexts)]
        self._step(np.concatenate(words[:2]), np.concatenate(steps))

    def _step(self, words: Ids, steps: Shares) -> None:
        """Do a step of AdaGrad with these gradients; numbers of words around links follow those of words on links."""
        weights, squares = self._weights.ravel(), self._squares.ravel()
        np.add.at(self._sums, words, steps.astype(np.float64))
        gradient = self._sums[words]
        self._sums[words] = 0
        squares[words] += gradient**2
        weights[words] -= RATE * gradient / np.sqrt(squares[words])

    def update(self) -> None:
        """Recompute the features of each word."""
        size = min(len(self._numbers) + 1, MAX_WORDS)
        pages, relevant, links = self._pages[:size], np.maximum(self._relevant[:size], 0.0), self._links[:size]
        rate = (relevant[NO_WORD] + 0.5) / (pages[NO_WORD] + 1)
        lift = np.log((relevant + TRUST * rate) / ((pages + TRUST) * rate))
        share = relevant / (relevant[NO_WORD] + 1) * np.log((links[NO_WORD] + 2) / (links + 1))
        tries, successes = self._tries[:, :size], self._successes[:, :size]
        rates = (successes[:, :1] + 0.5) / (tries[:, :1] + 2)
        led = np.log((successes + TRUST * rates) / ((tries + TRUST) * rates))
        for kind in (NAME, AROUND):
            self._features[kind, :size] = np.stack([self._weights[kind, :size], lift, share, led[kind]], axis=1)
        self._hubs[:size] = led[ABOUT]
        self._features[:, NO_WORD] = self._hubs[NO_WORD] = 0

    def features(self, kind: int, ids: Ids) -> Shares:
        """Return the features of each row of words: the sum of weights over the root of their number, and means."""
        if compiled:
            return compiled.term_features(self._features[kind], ids)
        many = _many(ids)
        combined: Shares = np.einsum("ijk->ik", self._features[kind].take(ids, axis=0))
        combined[:, 0] /= np.sqrt(many)
        combined[:, 1:] /= many[:, None]
        return combined

    def promise(self, introductions: Ids) -> Shares:
        """Return for each page the mean `led` of its introductory words."""
        promised: Shares = self._hubs.take(introductions).sum(axis=1) / _many(introductions)
        return promised

    def state(self, most: int) -> tuple[list[str], NDArray[np.float32]]:
        """Return the state for a restart: the `most` most frequent words, and the counts of each."""
        size = min(len(self._numbers) + 1, MAX_WORDS)
        met = (self._pages[:size] + self._tries[:, :size].sum(axis=0))[1:]
        chosen = np.sort(np.argsort(-met, kind="stable")[:most]) + 1
        names = list(self._numbers)
        counts = self._counts()[:, [NO_WORD, *chosen]].astype(np.float32)
        return [names[number - 1] for number in chosen], counts

    def restore(self, words: Sequence[str], counts: NDArray[np.float32]) -> None:
        """Restore the result of `state`.

        Raises:
            ValueError: The counts do not match the words.
        """
        rows = self._rows()
        if counts.shape != (len(rows), len(words) + 1):
            raise ValueError("what was learned of words is damaged")
        numbers = [NO_WORD, *map(self._numbers.number, words)]
        for row, values in zip(rows, counts, strict=True):
            row[numbers] = values
        self.update()

    def _rows(self) -> list[NDArray[np.float64]]:
        return [
            self._pages, self._relevant, self._links,
            *self._tries, *self._successes, *self._weights, *self._squares,
        ]  # fmt: skip

    def _counts(self) -> NDArray[np.float64]:
        return np.stack([row[: len(self._numbers) + 1] for row in self._rows()])


def end_of(url: str) -> str:
    """Return the last part of a URL's path as text."""
    parts = url.partition("?")[0].rsplit("/", 2)[1:]
    end = " ".join(parts) if len(parts) < 2 or parts[0] else parts[-1]
    stem, dot, ending = end.rpartition(".")
    end = stem if dot and len(ending) <= MAX_EXTENSION_CHARACTERS else end
    return unquote(end) if "%" in end else end


def rows_of(words: Numbers, at: Numbers, widths: Numbers) -> Ids:
    """Return the first distinct words of each row, padded with 0.

    Args:
        words: The words of all rows, one row after the other.
        at: The index of the row of each word.
        widths: The most words of each row.
    """
    if compiled:
        return compiled.rows_of(words, at, widths)
    rows = np.zeros((len(widths), int(widths.max(initial=0))), dtype=np.int32)
    keys = np.sort(((at * MAX_WORDS + words) << PLACE_BITS) + np.arange(len(words)))
    again = np.flatnonzero(keys[1:] >> PLACE_BITS == keys[:-1] >> PLACE_BITS) + 1
    is_new = np.ones(len(words), dtype=np.bool_)
    is_new[keys[again] & PLACES] = False
    words, at = words[is_new], at[is_new]
    count = np.bincount(at, minlength=len(widths))
    place = np.arange(len(at)) - (np.cumsum(count) - count)[at]
    kept = place < widths[at]
    rows[at[kept], place[kept]] = words[kept]
    return rows


def _many(ids: Ids) -> Shares:
    """Count the words of each row, at least one."""
    many: Shares = np.maximum((ids != NO_WORD).astype(np.float32) @ np.ones(ids.shape[1], dtype=np.float32), 1)
    return many


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
        vectors = np.concatenate([vector for vector, _ in self._examples.values()])  # half the time of `np.array`
        titles = vectors.reshape(-1, self.width).astype(np.float32, copy=False) - self._middle
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
