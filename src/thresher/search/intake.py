"""How the index follows the page store: new rows are taken in, and judgements that have changed are copied.

Nothing is done while a crawl runs; whoever searches pays for what is new since the last search. A batch of rows goes
in with the note of how far it reached, in one transaction, so a killed intake goes on where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import xxhash

from thresher.archive.groups import GroupTables
from thresher.search.segments import Row, Segment, open_segments, reading
from thresher.search.terms import indexed
from thresher.text.tokens import tokenize
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

BATCH_ROWS = 200
MOST_ANCHORS = 1 << 17
"""Anchors that are remembered as known while rows are taken in: menus repeat them on every page."""
MAX_ANCHOR_CHARACTERS = 200

_JUDGEMENTS = (
    "UPDATE doc SET relevance = now.relevance, relevant = now.relevant FROM segment_now.page AS now "
    "WHERE doc.segment = ? AND doc.live AND now.id = doc.place "
    "AND (doc.relevance <> now.relevance OR doc.relevant <> now.relevant)"
)


class StaleIndex(Exception):
    """The index knows rows that the page store does not have: it must be made anew."""


class Intake:
    """Brings an index up to date.

    Args:
        db: The index, opened for writing.
        pages: The folder of segments.
        progress: Told how many rows were taken in so far.
    """

    def __init__(self, db: sqlite3.Connection, pages: Path, progress: Callable[[int], None] | None = None) -> None:
        self._db = db
        self._pages = pages
        self._progress = progress
        self._groups = GroupTables(db)
        self._anchors: set[tuple[int, int]] = set()
        self._segments: Sequence[Segment] = ()
        self._rows = 0

    def run(self) -> int:
        """Take in all that is new; return how many rows that were.

        Raises:
            StaleIndex: Rows have gone from the page store.
        """
        self._segments = open_segments(self._pages)
        try:
            self._check()
            for segment in self._segments:
                self._take_segment(segment)
        finally:
            for segment in self._segments:
                segment.close()
        return self._rows

    def _check(self) -> None:
        last = {segment.path.name: segment.last() for segment in self._segments}
        for name, known in self._db.execute("SELECT name, last_row FROM segment"):
            if known > last.get(name, 0):
                raise StaleIndex(name)

    def _take_segment(self, segment: Segment) -> None:
        name = segment.path.name
        self._db.execute("INSERT OR IGNORE INTO segment (name, last_row, stamp) VALUES (?, 0, '')", [name])
        query = "SELECT id, last_row, stamp FROM segment WHERE name = ?"
        number, last_row, known = self._db.execute(query, [name]).fetchone()
        stamp = segment.stamp()
        if stamp == known:
            return
        self._copy_judgements(segment, number)
        while batch := segment.after(last_row, BATCH_ROWS):
            last_row = batch[-1].place
            self._take_batch(segment, number, batch)
        self._db.execute("UPDATE segment SET stamp = ? WHERE id = ?", [stamp, number])

    def _copy_judgements(self, segment: Segment, number: int) -> None:
        with reading(segment.path):
            self._db.execute("ATTACH ? AS segment_now", [segment.uri])
        try:
            self._db.execute(_JUDGEMENTS, [number])
        finally:
            self._db.execute("DETACH segment_now")

    def _take_batch(self, segment: Segment, number: int, batch: Sequence[Row]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for row in batch:
                if row.page and row.text and not self._is_outdated(segment, row):
                    self._take_page(number, row)
                self._take_anchors(row.anchors)
            self._db.execute("UPDATE segment SET last_row = ? WHERE id = ?", [batch[-1].place, number])
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._rows += len(batch)
        if self._progress:
            self._progress(self._rows)

    def _is_outdated(self, own: Segment, row: Row) -> bool:
        return any(
            segment.has_newer(row.fingerprint, row.fetched_at, row.place if segment is own else 0)
            for segment in self._segments
        )

    def _take_page(self, number: int, row: Row) -> None:
        self._db.execute("UPDATE doc SET live = 0 WHERE fingerprint = ? AND live", [row.fingerprint])
        terms = tokenize(row.text)
        self._groups.add(row.fingerprint, tokenize(row.main) if row.main else terms)
        doc = [row.fingerprint, number, row.place, host_key(row.url), row.language, row.relevance, row.relevant]
        added = self._db.execute(
            "INSERT INTO doc (fingerprint, segment, place, live, host, language, relevance, relevant, fetched_at)"
            " VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?)",
            [*doc, row.fetched_at],
        )
        self._db.execute(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            [added.lastrowid, indexed(row.title), indexed(row.text, terms)],
        )

    def _take_anchors(self, anchors: Iterable[tuple[str, str]]) -> None:
        for url, words in anchors:
            said = fingerprint(url), xxhash.xxh3_64_intdigest(words.encode("utf-8", "replace")) - (1 << 63)
            if said in self._anchors:
                continue
            if len(self._anchors) >= MOST_ANCHORS:
                self._anchors.clear()
            self._anchors.add(said)
            if terms := indexed(words[:MAX_ANCHOR_CHARACTERS]):
                added = self._db.execute("INSERT OR IGNORE INTO anchor (target, said) VALUES (?, ?)", said)
                if added.rowcount:
                    row = [added.lastrowid, terms]
                    self._db.execute("INSERT INTO anchor_words (rowid, anchor) VALUES (?, ?)", row)
