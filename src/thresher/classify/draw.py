"""Pages of a sample on their way into a notebook: to the same worker after a restart, and to all others.

First come the pages that stay for good, then an even draw of the rest in random order, so that any beginning of them
is an even draw too: whoever has room for ten pages takes the first ten. On the way terms are numbered anew, the most
frequent first, and weights are numbers in a list of the few different ones: that packs well, and loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.classify.entries import BadEntry

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """Some pages of a sample.

    Args:
        seen: How many pages its worker had seen: what the draw stands for.
        kept: How many of the pages stay for good.
        urls: The pages.
        terms: All terms, by their numbers.
        numbers: The terms of all pages on end.
        weights: Their weights.
        starts: The terms of page i are `starts[i]` up to `starts[i + 1]`.
    """

    seen: int
    kept: int
    urls: Sequence[str]
    terms: Sequence[str]
    numbers: Integers
    weights: NDArray[np.float64]
    starts: Integers

    def terms_of(self, place: int) -> dict[str, float]:
        """Return the terms of one page, with their weights."""
        span = slice(self.starts[place], self.starts[place + 1])
        numbers, weights = self.numbers[span].tolist(), self.weights[span].tolist()
        return {self.terms[number]: weight for number, weight in zip(numbers, weights, strict=True)}

    def take_apart(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the draw as arrays that pack well, and as values that JSON can hold."""
        frequencies = np.bincount(self.numbers, minlength=len(self.terms))
        by_frequency = np.argsort(-frequencies, kind="stable")[: np.count_nonzero(frequencies)]
        places = np.empty(len(self.terms), dtype=np.int64)
        places[by_frequency] = np.arange(len(by_frequency))
        lengths = np.diff(self.starts)
        different, codes = _told_apart(self.weights.astype(np.float32))
        numbers, codes = _in_order(lengths, places[self.numbers], codes)
        steps = np.diff(numbers, prepend=0)
        first = self.starts[:-1][lengths > 0]
        steps[first] = numbers[first]
        arrays = {"steps": _small(steps), "codes": _small(codes), "weights": different, "lengths": _small(lengths)}
        names = [self.terms[number] for number in by_frequency.tolist()]
        return arrays, {"seen": self.seen, "kept": self.kept, "urls": list(self.urls), "terms": names}

    @classmethod
    def put_together(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> Draw:
        """Make the draw that `take_apart` described.

        Raises:
            BadEntry: Its parts do not fit together.
        """
        lengths, steps = arrays["lengths"].astype(np.int64), arrays["steps"].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        urls, terms, codes = values["urls"], values["terms"], arrays["codes"].astype(np.int64)
        fits = len(urls) == len(lengths) and starts[-1] == len(steps) == len(codes) and 0 <= values["kept"] <= len(urls)
        if not fits or lengths.min(initial=0) < 0 or not all(isinstance(name, str) for name in (*urls, *terms)):
            raise BadEntry("its pages are incomplete")
        sums = np.concatenate([[0], np.cumsum(steps)])
        numbers = sums[1:] - np.repeat(sums[starts[:-1]], lengths)
        if not _are_places(numbers, terms) or not _are_places(codes, arrays["weights"]):
            raise BadEntry("it speaks of terms that it does not name")
        weights = arrays["weights"].astype(np.float64)
        if not np.isfinite(weights).all():
            raise BadEntry("its weights are no numbers")
        return cls(
            seen=max(int(values["seen"]), len(urls)),
            kept=int(values["kept"]),
            urls=urls,
            terms=terms,
            numbers=numbers,
            weights=weights[codes],
            starts=starts,
        )


def _told_apart(weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], Integers]:
    """Return the different weights in order, and which of them each one is."""
    ordered = np.sort(weights)
    different = ordered[np.flatnonzero(np.diff(ordered, prepend=-1.0))]
    return different, np.searchsorted(different, weights)


def _in_order(lengths: Integers, numbers: Integers, codes: Integers) -> tuple[Integers, Integers]:
    """Sort the terms of every page by their numbers; as one number each, since those are sorted fastest."""
    terms, weights = int(numbers.max(initial=0)) + 1, int(codes.max(initial=0)) + 1
    rows = np.repeat(np.arange(len(lengths)), lengths)
    keys = np.sort((rows * terms + numbers) * weights + codes)
    return keys // weights % terms, keys % weights


def _small(numbers: Integers) -> NDArray[Any]:
    """Write numbers in as few bytes as the greatest needs."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _are_places(numbers: Integers, things: Sequence[Any] | NDArray[Any]) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < len(things))
