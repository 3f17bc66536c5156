"""An index of all pages in memory, for curves and sorted lists, updated incrementally.

A row of the page store never moves, so only new rows are read. But rows change when pages are judged again, and a page
that was fetched again has two rows: so everything is read again when a segment was written to; the longer that takes,
the less often it is done. The index needs about forty bytes per page.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.storage.reader import PageTally

RECOUNT_SHARE = 0.05
"""The largest share of time that full reads may take."""

_ROWS = np.dtype(
    [
        ("segment", "i4"),
        ("id", "i8"),
        ("fingerprint", "i8"),
        ("fetched_at", "f8"),
        ("relevance", "f4"),
        ("relevant", "?"),
        ("counts", "?"),
    ]
)
_NEW = (
    "SELECT id, fingerprint, fetched_at, relevance, relevant, duplicate_of = 0 FROM page WHERE page = 1 AND id > ? "
    "AND id <= ?"
)
_LAST = "SELECT coalesce(max(id), 0) FROM page"

Rows = NDArray[np.void]


@dataclass(frozen=True)
class IndexedPages:
    """The pages of a crawl in the order in which they were fetched.

    Args:
        rows: One per page, with its segment and its id there; ``counts`` where it is not a duplicate.
    """

    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tally(self) -> PageTally:
        counts = self.rows["counts"]
        return PageTally(
            pages=len(self.rows),
            duplicates=int(np.count_nonzero(~counts)),
            relevant=int(np.count_nonzero(self.rows["relevant"] & counts)),
            expected=float(self.rows["relevance"][counts].sum(dtype=np.float64)),
        )

    def harvest(self, last: int) -> float | None:
        """Return the share of relevant pages among the last `last`; None while there are fewer."""
        rows = self.rows[-last:]
        return int(np.count_nonzero(rows["relevant"] & rows["counts"])) / last if len(rows) == last else None

    def since(self, moment: float) -> int:
        """Count the pages that were fetched since a time."""
        return int(len(self.rows) - np.searchsorted(self.rows["fetched_at"], moment))

    def newest(self, *, relevant: bool) -> Rows:
        """Return the pages, newest first; with `relevant`, only relevant ones."""
        rows = self.rows[self.rows["relevant"]] if relevant else self.rows
        return rows[::-1]

    def best(self, most: int, *, relevant: bool) -> Rows:
        """Return the most relevant pages, best first."""
        rows = self.rows[self.rows["relevant"]] if relevant else self.rows
        worth = -rows["relevance"]
        if most < len(rows):
            rows = rows[np.sort(np.argpartition(worth, most - 1)[:most])]
            worth = -rows["relevance"]
        return rows[np.argsort(worth, kind="stable")]


NO_PAGES = IndexedPages(np.empty(0, _ROWS))


class PageIndex:
    """Builds and updates the index; to be used in the thread that opened the segments."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read_to: list[int] = []
        self._next_recount = 0.0
        self._versions: list[int] = []
        self._pages = NO_PAGES

    def read(self, segments: Sequence[sqlite3.Connection]) -> IndexedPages:
        """Return the index of all pages."""
        began = self._clock()
        versions = [int(segment.execute("PRAGMA data_version").fetchone()[0]) for segment in segments]
        is_due = began >= self._next_recount and versions != self._versions
        if is_due or len(segments) != len(self._read_to):
            self._versions = versions
            self._pages, self._read_to = NO_PAGES, [0] * len(segments)
            self._read_new(segments)
            took = self._clock() - began
            self._next_recount = began + took / RECOUNT_SHARE
        else:
            self._read_new(segments)
        return self._pages

    def _read_new(self, segments: Sequence[sqlite3.Connection]) -> None:
        """Read the new rows; in a full read, only the last row of each URL counts."""
        parts = [self._new(number, segment) for number, segment in enumerate(segments)]
        new = np.concatenate(parts) if parts else NO_PAGES.rows
        if len(new):
            rows = np.concatenate([self._pages.rows, new])
            rows = rows[np.argsort(rows["fetched_at"], kind="stable")]
            self._pages = IndexedPages(_last_of_each(rows) if not len(self._pages) else rows)

    def _new(self, number: int, segment: sqlite3.Connection) -> Rows:
        last = int(segment.execute(_LAST).fetchone()[0])
        if last <= self._read_to[number]:
            return NO_PAGES.rows
        found = segment.execute(_NEW, [self._read_to[number], last])
        self._read_to[number] = last
        return np.fromiter(((number, *row) for row in found), dtype=_ROWS)


def _last_of_each(rows: Rows) -> Rows:
    """Keep the last row of each URL, in the same order."""
    _, last = np.unique(rows["fingerprint"][::-1], return_index=True)
    return rows[np.sort(len(rows) - 1 - last)]
