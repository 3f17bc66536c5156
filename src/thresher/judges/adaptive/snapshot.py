"""Serialized learner state: a snapshot of a worker's sample, its seeds and labels.

It is read by the same worker after a restart, and by all other workers. Permanent pages come first, then a uniform
sample of the rest in random order, so that any prefix of it is a uniform sample too: a reader with room for ten pages
uses the first ten. Terms are renumbered by descending frequency, and weights are indices into a list of the few
distinct ones: that compresses well, and loses nothing but the order of a page's terms. Those of its opening are marked,
and come first again when the snapshot is read.

Formats: the first was a plain npz file, with the pages in storage order. Since the second, entries are compressed
snapshots; entries without a format number are of the second too. Entries of earlier versions have no marks: there the
heaviest terms of a page come first, which are mostly those of title and lead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.judges.adaptive.calibration import OPENING_TERMS
from thresher.judges.adaptive.terms import TermVector
from thresher.modelstate.codec import BadEntry, fitted, json_object, pack_both, unpack_arrays, unpack_both

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservoirSnapshot:
    """Some pages of a reservoir sample.

    Args:
        seen: Number of pages that the worker has seen and the snapshot represents.
        kept: Number of permanent pages.
        urls: The pages.
        terms: All terms, by index.
        numbers: The term indices of all pages, concatenated.
        weights: Their weights.
        starts: The terms of page i are `starts[i]` up to `starts[i + 1]`, those of its opening first.
    """

    seen: int
    kept: int
    urls: Sequence[str]
    terms: Sequence[str]
    numbers: Integers
    weights: NDArray[np.float64]
    starts: Integers

    def terms_of(self, place: int) -> dict[str, float]:
        span = slice(self.starts[place], self.starts[place + 1])
        numbers, weights = self.numbers[span].tolist(), self.weights[span].tolist()
        return {self.terms[number]: weight for number, weight in zip(numbers, weights, strict=True)}

    def opening_of(self, place: int) -> TermVector:
        """Return the terms of a page's opening."""
        span = slice(self.starts[place], min(self.starts[place + 1], self.starts[place] + OPENING_TERMS))
        return TermVector([self.terms[number] for number in self.numbers[span].tolist()], self.weights[span])

    def encode(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the snapshot as arrays that compress well, and JSON values."""
        frequencies = np.bincount(self.numbers, minlength=len(self.terms))
        by_frequency = np.argsort(-frequencies, kind="stable")[: np.count_nonzero(frequencies)]
        places = np.empty(len(self.terms), dtype=np.int64)
        places[by_frequency] = np.arange(len(by_frequency))
        lengths = np.diff(self.starts)
        different, codes = _distinct(self.weights.astype(np.float32))
        in_opening = np.arange(len(codes)) - np.repeat(self.starts[:-1], lengths) < OPENING_TERMS
        numbers, codes = _in_order(lengths, places[self.numbers], 2 * codes + in_opening)
        codes, in_opening = codes // 2, codes % 2 == 1
        steps = np.diff(numbers, prepend=0)
        first = self.starts[:-1][lengths > 0]
        steps[first] = numbers[first]
        arrays = {"steps": _small(steps), "codes": _small(codes), "weights": different, "lengths": _small(lengths)}
        arrays["opening"] = np.packbits(in_opening)
        names = [self.terms[number] for number in by_frequency.tolist()]
        return arrays, {"seen": self.seen, "kept": self.kept, "urls": list(self.urls), "terms": names}

    @classmethod
    def decode(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> ReservoirSnapshot:
        """Undo `encode`.

        Raises:
            BadEntry: The parts do not fit together.
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
            raise BadEntry("it refers to terms or weights that it does not contain")
        weights = arrays["weights"].astype(np.float64)[codes]
        if not np.isfinite(weights).all():
            raise BadEntry("its weights are not finite numbers")
        order = _opening_first(lengths, arrays.get("opening"), weights)
        return cls(
            seen=max(int(values["seen"]), len(urls)),
            kept=int(values["kept"]),
            urls=urls,
            terms=terms,
            numbers=numbers[order],
            weights=weights[order],
            starts=starts,
        )


def _opening_first(lengths: Integers, marks: NDArray[Any] | None, weights: NDArray[np.float64]) -> Integers:
    """Return the order of terms that puts those of the opening first on each page.

    Args:
        marks: A bit for each term; None in an entry of an earlier version.

    Raises:
        BadEntry: There are not as many marks as terms.
    """
    pages = np.repeat(np.arange(len(lengths)), lengths)
    if marks is None:
        return np.lexsort((-weights, pages))
    if marks.dtype != np.uint8 or marks.shape != ((len(weights) + 7) // 8,):
        raise BadEntry("its pages are incomplete")
    return np.argsort(2 * pages - np.unpackbits(marks, count=len(weights)), kind="stable")


def _distinct(weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], Integers]:
    """Return the distinct weights in order, and the index of each weight among them."""
    ordered = np.sort(weights)
    different = ordered[np.flatnonzero(np.diff(ordered, prepend=-1.0))]
    return different, np.searchsorted(different, weights)


def _in_order(lengths: Integers, numbers: Integers, codes: Integers) -> tuple[Integers, Integers]:
    """Sort the terms of every page by index; as one integer key each, since that sorts fastest."""
    terms, weights = int(numbers.max(initial=0)) + 1, int(codes.max(initial=0)) + 1
    rows = np.repeat(np.arange(len(lengths)), lengths)
    keys = np.sort((rows * terms + numbers) * weights + codes)
    return keys // weights % terms, keys % weights


def _small(numbers: Integers) -> NDArray[Any]:
    """Use the smallest type that holds the maximum."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _are_places(numbers: Integers, things: Sequence[Any] | NDArray[Any]) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < len(things))


FORMAT = 2
_NPZ = b"PK"


def unpack_state(entry: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return arrays and values of an entry, converted to the newest format.

    Raises:
        ValueError: It is not an entry of a judge, or a newer Thresher wrote it.
    """
    if entry.startswith(_NPZ):
        return _from_first_format(unpack_arrays(entry), name=hashlib.sha256(entry).hexdigest()[:32])
    arrays, values = unpack_both(entry)
    if values.get("format", FORMAT) != FORMAT:
        raise BadEntry(f"a newer Thresher wrote it (its format is {values['format']}, this one reads up to {FORMAT})")
    return arrays, values


def _from_first_format(arrays: Mapping[str, Any], *, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    names, state = json_object(arrays["names"].tobytes()), json_object(arrays["notes"].tobytes())
    kept, urls = int(names["kept"]), names["urls"]
    spans = [slice(*span) for span in pairwise(arrays["starts"].tolist())]
    order = [*range(kept), *(kept + np.random.default_rng(0).permutation(len(urls) - kept)).tolist()]
    snapshot = ReservoirSnapshot(
        seen=int(arrays["seen"][0]),
        kept=kept,
        urls=[urls[place] for place in order],
        terms=names["terms"],
        numbers=_concatenate([arrays["numbers"][spans[place]] for place in order]).astype(np.int64),
        weights=_concatenate([arrays["weights"][spans[place]] for place in order]).astype(np.float64),
        starts=np.cumsum([0, *(spans[place].stop - spans[place].start for place in order)]),
    )
    given = [state["given"].get(url) for url in snapshot.urls]
    parts, values = snapshot.encode()
    return parts, values | {"worker": name, "seeds": state["seeds"], "told": state["told"], "given": given}


def _concatenate(parts: list[Any]) -> Any:
    return np.concatenate(parts) if parts else np.empty(0)


MAX_SENT = 1_000
"""Upper bound of pages in an entry; with long pages the entry is full before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnerState:
    """The saved state of one worker's learner.

    Args:
        labelled: Labels given to this worker; None for a withdrawn one.
        given: The last relevance of the pages of the snapshot that were judged.
        shift: The shift of the crawl (`cut.py`).
        shift_pages: The number of pages that it follows.
    """

    worker: str
    snapshot: ReservoirSnapshot
    seeds: Collection[str]
    labelled: Mapping[str, float | None]
    given: Mapping[str, float]
    shift: float = 0.0
    shift_pages: int = 0

    def entry(self, **more: Any) -> bytes:
        """Serialize the state, with more JSON values, as an entry of a state store."""
        arrays, values = self.snapshot.encode()
        given = [self.given.get(url) for url in self.snapshot.urls]
        state = {"worker": self.worker, "seeds": list(self.seeds), "told": dict(self.labelled), "given": given}
        shift = {"shift": self.shift, "shift_pages": self.shift_pages}
        return pack_both(arrays, {"format": FORMAT} | values | state | shift | more)

    @classmethod
    def read(cls, entry: bytes) -> LearnerState:
        """Undo `entry`.

        Raises:
            ValueError: The bytes are not an entry.
        """
        return cls.read_with_more(entry)[0]

    @classmethod
    def read_with_more(cls, entry: bytes) -> tuple[LearnerState, Mapping[str, Any]]:
        """Undo `entry`; return all JSON values too.

        Raises:
            ValueError: The bytes are not an entry.
        """
        arrays, values = unpack_state(entry)
        snapshot, labelled = ReservoirSnapshot.decode(arrays, values), values["told"]
        if not isinstance(labelled, dict) or not all(map(_is_label, labelled.values())):
            raise BadEntry("its labels are neither true, false, null nor probabilities")
        given = zip(snapshot.urls, values["given"], strict=True)
        state = cls(
            worker=str(values["worker"]),
            snapshot=snapshot,
            seeds=dict.fromkeys(values["seeds"]),
            labelled=labelled,
            given={url: relevance for url, relevance in given if relevance is not None},
            shift=_finite(values.get("shift", 0.0)),
            shift_pages=int(values.get("shift_pages", 0)),
        )
        return state, values


def _finite(value: Any) -> float:
    if not np.isfinite(number := float(value)):
        raise BadEntry("its shift is not a finite number")
    return number


def _is_label(value: object) -> bool:
    return value is None or isinstance(value, bool) or (isinstance(value, float) and 0.0 <= value <= 1.0)


class EntrySizer:
    """Finds the largest number of pages that fits into an entry, starting a little above the last one."""

    def __init__(self) -> None:
        self._fits = MAX_SENT

    def entry(self, make: Callable[[int], bytes]) -> bytes:
        content, self._fits = fitted(make, min(MAX_SENT, self._fits + self._fits // 8 + 1))
        return content
