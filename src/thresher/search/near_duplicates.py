"""Groups of near duplicates: mirrors, print versions, copies with another date or frame.

Each text has a MinHash signature (Broder, On the resemblance of documents, 1997) of its runs of three terms (shingles):
the share of equal numbers in two signatures estimates how much of two texts is common. Pages that share a band of their
signatures are compared (LSH); a page joins the group of the page most similar to it, when the similarity suffices.
Groups are stored in plain tables, so they grow page by page and never have to be rebuilt.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

ALIKE = 0.6
"""Pages are near duplicates when at least this share of all their runs of terms is common."""

RUN_TERMS = 3
BANDS, BAND_NUMBERS = 24, 4
"""Two pages of similarity 0.6 share a band in 96 of 100 cases, those of 0.7 in 999 of 1,000, those of 0.2 in 4."""
MIN_RUNS = 8
"""Shorter texts are near duplicates only when they are equal."""
MAX_RUNS = 2_048
"""Longer texts are sampled consistently: the same runs in both of two texts."""
MAX_COMPARED = 50
_ROWS_AT_ONCE = 1 << 14

Signature = NDArray[np.uint32]

_NUMBERS = BANDS * BAND_NUMBERS
_random = np.random.default_rng(20101)
_FACTORS = _random.integers(1, 1 << 63, _NUMBERS, dtype=np.uint64) | np.uint64(1)
_SUMMANDS = _random.integers(0, 1 << 63, _NUMBERS, dtype=np.uint64)
_RUN_FACTORS = _random.integers(1, 1 << 63, RUN_TERMS, dtype=np.uint64) | np.uint64(1)
_BAND_FACTORS = _random.integers(1, 1 << 63, BAND_NUMBERS, dtype=np.uint64) | np.uint64(1)
_HALF = np.uint64(32)
_SQL = resources.files(__package__) / "sql"


def signature(terms: Sequence[str]) -> Signature | None:
    """Return the signature of a text, from its terms in order; None for a text without terms."""
    if not terms:
        return None
    runs = _runs(terms)
    if len(runs) < MIN_RUNS:
        whole = crc32(" ".join(terms).encode())
        runs = np.arange(whole, whole + 1, dtype=np.uint64) * _RUN_FACTORS[0]
    elif len(runs) > MAX_RUNS:
        runs = np.partition(runs, MAX_RUNS)[:MAX_RUNS]
    mixed = runs[:, None] * _FACTORS + _SUMMANDS
    least: Signature = (mixed.min(axis=0) >> _HALF).astype(np.uint32)
    return least


def _runs(terms: Sequence[str]) -> NDArray[np.uint64]:
    """Hash the runs of terms of a text, each once, the same in every process."""
    numbers = np.fromiter((crc32(term.encode("utf-8", "replace")) for term in terms), np.uint64, len(terms))
    if len(numbers) < RUN_TERMS:
        return np.empty(0, np.uint64)
    last = len(numbers) - RUN_TERMS + 1
    runs = sum(numbers[place : place + last] * factor for place, factor in enumerate(_RUN_FACTORS))
    mixed: NDArray[np.uint64] = np.unique(runs)
    return mixed ^ (mixed >> _HALF)


def similarity(one: Signature, other: Signature) -> float:
    """Estimate how much of two texts is common, from 0 to 1."""
    return float(np.mean(one == other))


def bands(known: Signature) -> list[int]:
    """Return the keys of the bands of a signature."""
    return [int(key) for key in _band_keys(known)]


def _band_keys(signatures: Signature) -> NDArray[np.int64]:
    """Return the keys of the bands of a signature, or of several, one per row."""
    numbers = signatures.reshape(*signatures.shape[:-1], BANDS, BAND_NUMBERS).astype(np.uint64)
    rows = numbers + np.arange(BANDS, dtype=np.uint64)[:, None]
    keys: NDArray[np.int64] = (rows * _BAND_FACTORS).sum(axis=-1, dtype=np.uint64).astype(np.int64)
    return keys


def group_signatures(signatures: Signature, *, alike: float = ALIKE) -> NDArray[np.int64]:
    """Group pages all at once: the connected components of the pairs that share a band and are similar enough.

    The groups do not depend on the order of the pages, unlike those of `NearDuplicateTables`.

    Args:
        signatures: One per row.
        alike: The least share of equal numbers in two similar signatures.

    Returns:
        For each row the first row of its group.
    """
    heads = np.arange(len(signatures))
    keys = np.empty((len(signatures), BANDS), np.int64)
    for start in range(
        0, len(signatures), _ROWS_AT_ONCE
    ):  # the numbers in between take eight times the room of the signatures
        keys[start : start + _ROWS_AT_ONCE] = _band_keys(signatures[start : start + _ROWS_AT_ONCE])
    for band in range(BANDS if len(signatures) else 0):
        order = np.argsort(keys[:, band], kind="stable")
        is_first = np.append(True, keys[order[1:], band] != keys[order[:-1], band])
        starts = np.flatnonzero(is_first)
        roots = _roots(heads, order)
        is_open = np.minimum.reduceat(roots, starts) != np.maximum.reduceat(roots, starts)
        ends = np.append(starts[1:], len(order))
        for start, end in zip(starts[is_open].tolist(), ends[is_open].tolist(), strict=True):
            _join(order[start:end], signatures, heads, alike)
    return _roots(heads, np.arange(len(signatures)))


def _join(members: NDArray[np.int64], signatures: Signature, heads: NDArray[np.int64], alike: float) -> None:
    """Join the similar ones of some pages; pages of one group need no comparison."""
    roots = _roots(heads, members)
    while (roots != roots[0]).any():
        others = members[roots != roots[0]]
        near = others[(signatures[others] == signatures[members[0]]).mean(axis=1) >= alike]
        joined = np.append(_roots(heads, near), roots[0])
        heads[joined] = joined.min()
        members = members[1:]
        roots = _roots(heads, members)


def _roots(heads: NDArray[np.int64], pages: NDArray[np.int64]) -> NDArray[np.int64]:
    found = heads[pages]
    while (found != heads[found]).any():
        found = heads[found]
    heads[pages] = found
    return found


@dataclass(frozen=True, slots=True)
class NearDuplicateGroup:
    """A group of near duplicates.

    Args:
        head: The page that identifies the group: its first one, until that is removed.
        members: All of them, sorted.
    """

    head: int
    members: tuple[int, ...]


class NearDuplicateTables:
    """The groups of a collection, in tables of a database that the caller opens and commits."""

    def __init__(self, db: sqlite3.Connection, *, alike: float = ALIKE) -> None:
        self._db = db
        self._alike = alike
        for statement in (_SQL / "groups.sql").read_text(encoding="utf-8").split(";"):
            db.execute(statement)

    def add(self, page: int, terms: Sequence[str]) -> int:
        """Add a page to the group of the most similar page; return the head of the group."""
        self.remove(page)
        own = signature(terms)
        if own is None:
            return page
        keys = bands(own)
        best = self._head_of_best(own, keys)
        head = page if best is None else best
        self._db.execute("INSERT INTO alike VALUES (?, ?, ?)", [page, head, own.tobytes()])
        self._db.executemany("INSERT OR IGNORE INTO alike_band VALUES (?, ?)", [(key, page) for key in keys])
        return head

    def remove(self, page: int) -> None:
        """Remove a page from its group; the others stay together."""
        known = self._db.execute("SELECT signature FROM alike WHERE page = ?", [page]).fetchone()
        if known:
            keys = bands(np.frombuffer(known[0], np.uint32))
            self._db.executemany("DELETE FROM alike_band WHERE key = ? AND page = ?", [(key, page) for key in keys])
            self._db.execute("DELETE FROM alike WHERE page = ?", [page])
            self._db.execute(
                "UPDATE alike SET head = (SELECT min(page) FROM alike WHERE head = :page) WHERE head = :page",
                {"page": page},
            )

    def _head_of_best(self, own: Signature, keys: Sequence[int]) -> int | None:
        marks = ",".join("?" * len(keys))
        rows = self._db.execute(
            "SELECT alike.head, alike.signature FROM alike_band JOIN alike USING (page) "  # noqa: S608 - only marks
            f"WHERE key IN ({marks}) GROUP BY page ORDER BY count(*) DESC LIMIT {MAX_COMPARED}",
            keys,
        ).fetchall()
        if not rows:
            return None
        shares = np.mean(np.frombuffer(b"".join(row[1] for row in rows), np.uint32).reshape(len(rows), -1) == own, 1)
        best = int(np.argmax(shares))
        return int(rows[best][0]) if shares[best] >= self._alike else None

    def group(self, page: int) -> NearDuplicateGroup:
        """Return the group of a page; a page without near duplicates is alone in it."""
        found = self._db.execute("SELECT head FROM alike WHERE page = ?", [page]).fetchone()
        if found is None:
            return NearDuplicateGroup(page, (page,))
        members = self._db.execute("SELECT page FROM alike WHERE head = ? ORDER BY page", found).fetchall()
        return NearDuplicateGroup(int(found[0]), tuple(int(member) for (member,) in members))
