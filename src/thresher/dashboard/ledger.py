"""What must be known of every page to draw a curve or put pages in order, kept in memory and read on as they come.

A row of the page store never moves, so only new rows are read. But rows change when pages are judged again, and a page
that was fetched again has two rows: so all is read anew when a segment was written to, and the longer that takes, the
more seldom. Some forty bytes for each page.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.archive.collection import Tally

RECOUNT_SHARE = 0.05
"""Reading all anew may take this share of the time, and no more."""

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
class Pages:
    """The pages of a collection in the order in which they came.

    Args:
        rows: One for each page, with its segment and id there; ``counts`` where it is no copy of another.
    """

    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def tally(self) -> Tally:
        """The pages in numbers."""
        counts = self.rows["counts"]
        return Tally(
            pages=len(self.rows),
            duplicates=int(np.count_nonzero(~counts)),
            relevant=int(np.count_nonzero(self.rows["relevant"] & counts)),
            expected=float(self.rows["relevance"][counts].sum(dtype=np.float64)),
        )

    def harvest(self, last: int) -> float | None:
        """Return the share of relevant ones among the last so many pages; None while there are fewer."""
        rows = self.rows[-last:]
        return int(np.count_nonzero(rows["relevant"] & rows["counts"])) / last if len(rows) == last else None

    def since(self, moment: float) -> int:
        """Count the pages that came since a moment."""
        return int(len(self.rows) - np.searchsorted(self.rows["fetched_at"], moment))

    def newest(self, *, relevant: bool) -> Rows:
        """Return the pages, newest first; only relevant ones when asked."""
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


NO_PAGES = Pages(np.empty(0, _ROWS))


class Ledger:
    """Reads along; to be used in the thread that opened the segments.

    Args:
        clock: Gives the time in seconds.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._read_to: list[int] = []
        self._next_recount = 0.0
        self._versions: list[int] = []
        self._pages = NO_PAGES

    def read(self, segments: Sequence[sqlite3.Connection]) -> Pages:
        """Return all pages as they are known now."""
        began = self._clock()
        versions = [int(segment.execute("PRAGMA data_version").fetchone()[0]) for segment in segments]
        is_due = began >= self._next_recount and versions != self._versions
        if is_due or len(segments) != len(self._read_to):
            self._versions = versions
            self._pages, self._read_to = NO_PAGES, [0] * len(segments)
            self._take(segments)
            took = self._clock() - began
            self._next_recount = began + took / RECOUNT_SHARE
        else:
            self._take(segments)
        return self._pages

    def _take(self, segments: Sequence[sqlite3.Connection]) -> None:
        """Read the rows that are new; of a URL that came again in them the last row counts."""
        parts = [self._new(number, segment) for number, segment in enumerate(segments)]
        new = np.concatenate(parts) if parts else NO_PAGES.rows
        if len(new):
            rows = np.concatenate([self._pages.rows, new])
            rows = rows[np.argsort(rows["fetched_at"], kind="stable")]
            self._pages = Pages(_last_of_each(rows) if not len(self._pages) else rows)

    def _new(self, number: int, segment: sqlite3.Connection) -> Rows:
        last = int(segment.execute(_LAST).fetchone()[0])
        if last <= self._read_to[number]:
            return NO_PAGES.rows
        found = segment.execute(_NEW, [self._read_to[number], last])
        self._read_to[number] = last
        return np.fromiter(((number, *row) for row in found), dtype=_ROWS)


def _last_of_each(rows: Rows) -> Rows:
    """Keep one row of each URL, its last, in the same order."""
    _, last = np.unique(rows["fingerprint"][::-1], return_index=True)
    return rows[np.sort(len(rows) - 1 - last)]
