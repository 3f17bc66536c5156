"""Statistics of each word about the topic: on fetched pages, on followed links, on the pages of these links.

Words are numbers here (`text.term_ids`), and their statistics are arrays of fixed size, so memory is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from thresher.native import compiled
from thresher.text.term_ids import Numbers, TermNumbers
from thresher.text.vectors import Vector, unit

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
