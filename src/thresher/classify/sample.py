"""A bounded sample of the crawl, as arrays: the background that a page is seen against.

Until it is full it holds every page; from then on each new page takes the place of a random one or none, so that it
stays an even sample of all that was crawled (reservoir sampling). Terms are numbers here, because a refit looks at
every term of every page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]
Weights = NDArray[np.float64]

MOST_TERMS = 400_000
"""Terms that are kept at most; those that no page of the sample holds are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a page and their weights."""

    names: list[str]
    weights: Weights

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Terms:
        """Take terms and weights from a mapping."""
        return cls(list(weights), np.fromiter(weights.values(), dtype=np.float64, count=len(weights)))


@dataclass(frozen=True, slots=True)
class Row:
    """A page as numbers of terms and their weights."""

    url: str
    numbers: Numbers
    weights: Weights


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows on end: those of page i are `starts[i]` up to `starts[i + 1]`."""

    numbers: NDArray[np.intp]
    weights: Weights
    starts: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms each page has."""
        return np.diff(self.starts)

    def sums(self, values: Weights) -> Weights:
        """Add up one value per term, page by page."""
        summed = np.zeros(len(self.starts) - 1)
        filled = self.lengths > 0  # reduceat knows no empty stretches
        if len(values):
            summed[filled] = np.add.reduceat(values, self.starts[:-1][filled])
        return summed

    def per_term(self, values: Weights) -> Weights:
        """Repeat one value per page for each of its terms."""
        return np.repeat(values, self.lengths)


class Sample:
    """Pages of the crawl.

    Args:
        most_pages: How many are kept.
        random_state: The same number keeps the same pages.
    """

    def __init__(self, most_pages: int, *, random_state: int = 0) -> None:
        self.seen = 0
        self._most_pages = most_pages
        self._random = Random(random_state)  # noqa: S311 - no secret
        self._terms: dict[str, int] = {}
        self._kept: dict[str, Row] = {}
        self._rows: list[Row] = []
        self._places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._kept) + len(self._rows)

    def __contains__(self, url: str) -> bool:
        return url in self._places or url in self._kept

    @property
    def kept(self) -> int:
        """How many pages stay for good."""
        return len(self._kept)

    @property
    def terms(self) -> Mapping[str, int]:
        """The number of every term."""
        return self._terms

    @property
    def urls(self) -> list[str]:
        """The pages, in the order of the matrix: those that are kept first."""
        return [row.url for row in self._all_rows()]

    def _all_rows(self) -> list[Row]:
        return [*self._kept.values(), *self._rows]

    def add(self, url: str, terms: Terms) -> str:
        """Take a page in, if the draw says so; return the URL of the page that had to leave for it, or nothing."""
        self.seen += 1
        if url in self:
            return ""
        place = len(self._rows)
        if place >= self._most_pages:
            place = self._random.randrange(self.seen)
            if place >= self._most_pages:
                return url
        return self._put(place, self.row(url, terms))

    def keep(self, url: str, terms: Terms) -> None:
        """Take a page in for good, whatever the draw says."""
        if url not in self._kept:
            self.seen += 1
            self._kept[url] = self.row(url, terms)

    def keep_known(self, url: str) -> None:
        """Let a page of the sample stay for good."""
        place = self._places.pop(url, None)
        if place is None:
            return
        self._kept[url] = self._rows[place]
        last = self._rows.pop()
        if last.url != url:  # the last page moves into the gap
            self._rows[place] = last
            self._places[last.url] = place

    def kept_terms(self) -> dict[str, dict[str, float]]:
        """Return the pages that stay for good, each with the weights of its terms."""
        names = list(self._terms) if self._kept else []  # numbers are places in the order of arrival
        return {
            url: {names[number]: weight for number, weight in zip(row.numbers, row.weights.tolist(), strict=True)}
            for url, row in self._kept.items()
        }

    def _put(self, place: int, row: Row) -> str:
        left = ""
        if place == len(self._rows):
            self._rows.append(row)
        else:
            left = self._rows[place].url
            del self._places[left]
            self._rows[place] = row
        self._places[row.url] = place
        return left

    def row(self, url: str, terms: Terms) -> Row:
        """Write a page in numbers; new terms get new ones."""
        known = self._terms
        numbers = self.numbers(terms)
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = known.setdefault(terms.names[place], len(known))
        return Row(url, numbers, terms.weights)

    def numbers(self, terms: Terms) -> Numbers:
        """Return the numbers of terms; -1 for those that have none."""
        return np.fromiter(map(self._terms.get, terms.names, repeat(-1)), dtype=np.int32, count=len(terms.names))

    def matrix(self) -> Matrix:
        """Put all pages on end."""
        rows = self._all_rows()
        lengths = [len(row.numbers) for row in rows]
        return Matrix(
            numbers=np.concatenate([row.numbers for row in rows] or [np.empty(0, np.int32)]).astype(np.intp),
            weights=np.concatenate([row.weights for row in rows] or [np.empty(0)]),
            starts=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
        )

    def forget_unused_terms(self, *, most: int = MOST_TERMS) -> None:
        """Number the terms anew once there are too many; whoever holds numbers must ask for new ones."""
        if len(self._terms) <= most:
            return
        used = np.unique(self.matrix().numbers)
        new_numbers = np.full(len(self._terms), -1, dtype=np.int32)
        new_numbers[used] = np.arange(len(used), dtype=np.int32)
        names = list(self._terms)
        self._terms = {names[old]: number for number, old in enumerate(used)}
        self._rows = [Row(row.url, new_numbers[row.numbers], row.weights) for row in self._rows]
        self._kept = {url: Row(url, new_numbers[row.numbers], row.weights) for url, row in self._kept.items()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that must be kept to go on later, as arrays of numbers."""
        matrix = self.matrix()
        names = json.dumps({"terms": list(self._terms), "urls": self.urls, "kept": len(self._kept)}, ensure_ascii=False)
        return {
            "names": np.frombuffer(names.encode("utf-8", "surrogatepass"), dtype=np.uint8),
            "numbers": matrix.numbers.astype(np.int32),
            "weights": matrix.weights.astype(np.float32),
            "starts": matrix.starts,
            "seen": np.array([self.seen]),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `arrays` of an earlier sample returned; pages beyond this one's size are left out."""
        names = json.loads(arrays["names"].tobytes().decode("utf-8", "surrogatepass"))
        self._terms = {term: number for number, term in enumerate(names["terms"])}
        starts: Sequence[int] = arrays["starts"].tolist()
        weights = arrays["weights"].astype(np.float64)
        spans = [slice(start, end) for start, end in pairwise(starts)]
        rows = [
            Row(url, arrays["numbers"][span].astype(np.int32), weights[span])
            for url, span in zip(names["urls"], spans, strict=True)
        ]
        kept = int(names["kept"])
        self._kept = {row.url: row for row in rows[:kept]}
        self._rows, self._places = [], {}
        for place, row in enumerate(rows[kept : kept + self._most_pages]):
            self._put(place, row)
        self.seen = int(arrays["seen"][0])
