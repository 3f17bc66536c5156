"""Deduplication of page store rows: which row counts when a URL was settled several times.

A URL has several rows after a retry, a crash or a revisit; they may be in the segments of different workers. Of the
rows with a page the latest one counts: in a segment the last row, since clocks can be set back; of several segments
that of the latest fetch, and of one fetch that of the last segment. The result is kept in a temporary file, so memory
does not grow with the collection. It is a snapshot of the rows at that time, so a reader sees no page twice while
workers write.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

_LAST = "SELECT coalesce(max(id), 0) FROM page"
_ROWS = "SELECT fingerprint, ?, id FROM page WHERE id <= ? ORDER BY fingerprint, id"
_REPEATED = (
    "SELECT fingerprint, ?, id FROM page WHERE id <= ? AND fingerprint IN"
    " (SELECT fingerprint FROM page GROUP BY fingerprint HAVING count(*) > 1) ORDER BY fingerprint, id"
)
_TABLES = """
    CREATE TEMP TABLE stale (segment INTEGER, id INTEGER, PRIMARY KEY (segment, id)) WITHOUT ROWID;
    CREATE TEMP TABLE repeated (fingerprint INTEGER PRIMARY KEY);
"""

Place = tuple[int, int, int]
"""A row: fingerprint, number of its segment, id."""


class LatestRows:
    """A snapshot of the outdated rows of some segments, and of the URLs with several rows.

    Args:
        scratch: A connection for temporary tables; closed with this object.
    """

    def __init__(self, segments: Sequence[sqlite3.Connection], scratch: sqlite3.Connection) -> None:
        self._segments = segments
        self.last = [int(segment.execute(_LAST).fetchone()[0]) for segment in segments]
        self._db = scratch
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")
        for fingerprint, places in groupby(self._places(), key=itemgetter(0)):
            self._record(fingerprint, list(places))
        self._db.execute("COMMIT")
        self.any_stale = self._db.execute("SELECT 1 FROM stale").fetchone() is not None

    def close(self) -> None:
        self._db.close()

    def is_stale(self, segment: int, row_id: int) -> bool:
        """Return whether a later row replaces this row of a page."""
        query = "SELECT 1 FROM stale WHERE segment = ? AND id = ?"
        return self.any_stale and self._db.execute(query, [segment, row_id]).fetchone() is not None

    def stale(self, segment: int) -> Iterator[int]:
        """Yield the ids of the outdated rows of a segment."""
        for (row_id,) in self._db.execute("SELECT id FROM stale WHERE segment = ?", [segment]):
            yield row_id

    def has_several(self, fingerprint: int) -> bool:
        """Return whether a URL was settled more than once."""
        query = "SELECT 1 FROM repeated WHERE fingerprint = ?"
        return self._db.execute(query, [fingerprint]).fetchone() is not None

    def _places(self) -> Iterator[Place]:
        """Yield rows by fingerprint, from the index only; with a single segment SQLite filters out unrepeated URLs."""
        query = _REPEATED if len(self._segments) == 1 else _ROWS
        streams = [
            map(tuple, segment.execute(query, [number, last]))
            for number, (segment, last) in enumerate(zip(self._segments, self.last, strict=True))
        ]
        yield from heapq.merge(*streams)

    def _record(self, fingerprint: int, places: list[Place]) -> None:
        if len(places) == 1:
            return
        self._db.execute("INSERT INTO repeated VALUES (?)", [fingerprint])
        pages = [place for place in places if self._is_page(place)]
        last = {number: (fingerprint, number, row_id) for _, number, row_id in pages}  # of each segment
        newest = max(last.values(), key=lambda place: (self._fetched_at(place), place), default=None)
        stale = [(number, row_id) for _, number, row_id in pages if (fingerprint, number, row_id) != newest]
        self._db.executemany("INSERT INTO stale VALUES (?, ?)", stale)

    def _is_page(self, place: Place) -> bool:
        return bool(self._value("page", place))

    def _fetched_at(self, place: Place) -> float:
        return float(self._value("fetched_at", place))

    def _value(self, column: str, place: Place) -> float:
        _, number, row_id = place
        query = f"SELECT {column} FROM page WHERE id = ?"  # noqa: S608 - our own names
        value: float = self._segments[number].execute(query, [row_id]).fetchone()[0]
        return value
