"""Pages as numbers of terms and their weights, one by one and on end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import zstandard
from numpy.typing import NDArray

MOST_PACKED = 1 << 22
"""Bytes that packed terms may unpack to: a page has at most some thousand of them."""

Numbers = NDArray[np.int32]
Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a page and their weights."""

    names: list[str]
    weights: Weights

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> Terms:
        """Take terms and weights from a mapping."""
        return cls(list(weights), np.fromiter(weights.values(), dtype=np.float64, count=len(weights)))

    @classmethod
    def of_counts(cls, counts: Mapping[str, float]) -> Terms:
        """Weigh terms by how often they occur: ``ln(1 + n)``."""
        return cls(list(counts), np.log1p(np.fromiter(counts.values(), dtype=np.float64, count=len(counts))))

    def pack(self) -> bytes:
        """Write the terms and their weights, with three digits each, in few bytes: some 2 KB for a usual page."""
        names = "\n".join(self.names).encode("utf-8", "replace")
        return zstandard.compress(names + b"\0" + self.weights.astype("<f2").tobytes(), 1)

    @classmethod
    def unpack(cls, packed: bytes) -> Terms:
        """Read what `pack` wrote.

        Raises:
            ValueError: It did not.
        """
        try:
            content = zstandard.ZstdDecompressor().decompress(packed, max_output_size=MOST_PACKED)
        except zstandard.ZstdError as error:
            raise ValueError(f"packed terms cannot be read: {error}") from error
        names, _, weights = content.partition(b"\0")
        terms = names.decode("utf-8").split("\n") if names else []
        if 2 * len(terms) != len(weights):
            raise ValueError("packed terms cannot be read: names and weights do not match")
        return cls(terms, np.frombuffer(weights, dtype="<f2").astype(np.float64))


@dataclass(frozen=True, slots=True)
class Row:
    """A page as numbers of terms and their weights."""

    url: str
    numbers: Numbers
    weights: Weights


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows on end: those of page i are `starts[i]` up to `starts[i + 1]`.

    Args:
        pages: How much each page counts: 1 each, unless some of them stand for more pages than others.
    """

    numbers: NDArray[np.intp]
    weights: Weights
    starts: NDArray[np.int64]
    pages: Weights

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many terms each page has."""
        return np.diff(self.starts)

    def rows(self, places: Sequence[int]) -> Matrix:
        """Take some of the rows."""
        spans = [slice(self.starts[place], self.starts[place + 1]) for place in places]
        return Matrix(
            numbers=np.concatenate([self.numbers[span] for span in spans] or [np.empty(0, np.intp)]),
            weights=np.concatenate([self.weights[span] for span in spans] or [np.empty(0)]),
            starts=np.cumsum([0, *self.lengths[list(places)]]),
            pages=self.pages[list(places)],
        )

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

    def without(self, terms: Numbers) -> Weights:
        """Return 1 for each page that holds none of some terms, else 0; 0 for all when there are no terms."""
        if not len(terms):
            return np.zeros(len(self.pages))
        held = self.sums(np.isin(self.numbers, terms).astype(np.float64))
        return np.where(held == 0.0, 1.0, 0.0)
