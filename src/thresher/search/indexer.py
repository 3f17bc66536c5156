"""Incremental update of the index from the page store: new rows are indexed, changed judgements are copied.

A running crawl does not update the index; a search first indexes what is new since the last one. A batch of rows and
the position it reached are written in one transaction, so a killed update resumes where it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

import xxhash

from thresher.search.near_duplicates import NearDuplicateTables
from thresher.search.page_rows import Segment, SegmentRow, reading
from thresher.search.terms import indexed
from thresher.text.tokens import tokenize
from thresher.urls.canonical import fingerprint, host_key

BATCH_ROWS = 200
MAX_ANCHORS = 1 << 17
"""Size of the cache of known anchors: menus repeat them on every page."""
MAX_ANCHOR_CHARACTERS = 200

_JUDGEMENTS = (
    "UPDATE doc SET relevance = now.relevance, relevant = now.relevant FROM segment_now.page AS now "
    "WHERE doc.segment = (SELECT id FROM segment WHERE name = ?) AND doc.live AND now.id = doc.place "
    "AND (doc.relevance <> now.relevance OR doc.relevant <> now.relevant)"
)
_TOPICS = (
    "UPDATE doc SET topics = now.topics FROM segment_now.page AS now "
    "WHERE doc.segment = (SELECT id FROM segment WHERE name = ?) AND doc.live AND doc.topics IS NOT NULL "
    "AND now.id = doc.place AND doc.topics <> now.topics"
)


class StaleIndex(Exception):
    """The index has rows that the page store does not have: it must be rebuilt."""


class SearchIndexer:
    """Updates an index.

    Args:
        db: The index, opened for writing.
        segments: The segments of the page store.
        progress: Called with the number of rows indexed so far.
        parts: Search segments of the index, opened for writing.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        segments: Sequence[Segment],
        progress: Callable[[int], None] | None = None,
        parts: Sequence[sqlite3.Connection] = (),
    ) -> None:
        self._db = db
        self._parts = parts
        self._progress = progress
        self._groups = NearDuplicateTables(db)
        self._anchors: set[tuple[int, int]] = set()
        self._segments = segments
        self._rows = 0

    def run(self) -> int:
        """Index all new rows; return their number.

        Raises:
            StaleIndex: Rows are missing from the page store.
        """
        self._check()
        for segment in self._segments:
            self._index_segment(segment)
        return self._rows

    def index(self, segment: Segment, name: str, *, after: int, until: int, most: int) -> int:
        """Index some rows of a segment, known by a name, the first ones after a row; return the last indexed row."""
        number, last_row, _ = self._position(name, after)
        while most > 0 and (batch := segment.after(last_row, min(most, BATCH_ROWS), until=until)):
            last_row = batch[-1].place
            most -= len(batch)
            self._index_batch(segment, number, batch)
        return last_row

    def _check(self) -> None:
        last = {segment.path.name: segment.last() for segment in self._segments}
        for name, known in self._db.execute("SELECT name, last_row FROM segment WHERE instr(name, '/') = 0"):
            if known > last.get(name, 0):
                raise StaleIndex(name)

    def _index_segment(self, segment: Segment) -> None:
        number, last_row, known = self._position(segment.path.name, 0)
        stamp = segment.stamp()
        if stamp == known:
            return
        self._copy_judgements(segment)
        while batch := segment.after(last_row, BATCH_ROWS):
            last_row = batch[-1].place
            self._index_batch(segment, number, batch)
        self._db.execute("UPDATE segment SET stamp = ? WHERE id = ?", [stamp, number])

    def _position(self, name: str, after: int) -> tuple[int, int, str]:
        """Return the number of a segment in the index, its last indexed row, and its stamp then."""
        self._db.execute("INSERT OR IGNORE INTO segment (name, last_row, stamp) VALUES (?, ?, '')", [name, after])
        query = "SELECT id, last_row, stamp FROM segment WHERE name = ?"
        number, last_row, stamp = self._db.execute(query, [name]).fetchone()
        return int(number), int(last_row), str(stamp)

    def _copy_judgements(self, segment: Segment) -> None:
        for db, name in ((self._db, segment.path.name), *((part, segment.stream) for part in self._parts)):
            with reading(segment.path):
                db.execute("ATTACH ? AS segment_now", [segment.uri])
            try:
                db.execute(_JUDGEMENTS, [name])
                if segment.has_topics:
                    db.execute(_TOPICS, [name])
            finally:
                db.execute("DETACH segment_now")

    def _index_batch(self, segment: Segment, number: int, batch: Sequence[SegmentRow]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for row in batch:
                if row.page and row.text and not self._is_outdated(segment, row):
                    self._index_page(number, row, segment.main_text(row))
                self._index_anchors(row.anchors)
            self._db.execute("UPDATE segment SET last_row = ? WHERE id = ?", [batch[-1].place, number])
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._rows += len(batch)
        if self._progress:
            self._progress(self._rows)

    def _is_outdated(self, own: Segment, row: SegmentRow) -> bool:
        """Return whether a later row of the page exists; of copies of a row, that of the last segment counts."""
        place = self._segments.index(own)
        return any(
            segment.has_newer(
                row.fingerprint, row.fetched_at, row.place if segment is own else 0, or_same=number > place
            )
            for number, segment in enumerate(self._segments)
        )

    def _index_page(self, number: int, row: SegmentRow, main_text: str) -> None:
        for db in (self._db, *self._parts):
            db.execute("UPDATE doc SET live = 0 WHERE fingerprint = ? AND live", [row.fingerprint])
        terms = tokenize(row.text)
        self._groups.add(row.fingerprint, tokenize(main_text) if main_text != row.text else terms)
        doc = [row.fingerprint, number, row.place, host_key(row.url), row.language, row.relevance, row.relevant]
        added = self._db.execute(
            "INSERT INTO doc (fingerprint, segment, place, live, host, language, relevance, relevant, fetched_at,"
            " topics) VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
            [*doc, row.fetched_at, row.topics],
        )
        self._db.execute(
            "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
            [added.lastrowid, indexed(row.title), indexed(row.text, terms)],
        )

    def _index_anchors(self, anchors: Iterable[tuple[str, str]]) -> None:
        for url, words in anchors:
            anchor_key = fingerprint(url), xxhash.xxh3_64_intdigest(words.encode("utf-8", "replace")) - (1 << 63)
            if anchor_key in self._anchors:
                continue
            if len(self._anchors) >= MAX_ANCHORS:
                self._anchors.clear()
            self._anchors.add(anchor_key)
            if terms := indexed(words[:MAX_ANCHOR_CHARACTERS]):
                added = self._db.execute("INSERT OR IGNORE INTO anchor (target, said) VALUES (?, ?)", anchor_key)
                if added.rowcount:
                    row = [added.lastrowid, terms]
                    self._db.execute("INSERT INTO anchor_words (rowid, anchor) VALUES (?, ?)", row)
