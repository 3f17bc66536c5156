"""The rows of the page store as the indexer reads them, segment by segment."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.errors import DamagedFile, StoreError
from thresher.sqlite_files import readable_uri
from thresher.storage.migrations import check_version
from thresher.storage.page_store import StoredContent, segment_files, unpacked_links, unpacked_text

_COLUMNS = "id, fingerprint, url, title, language, relevance, relevant, fetched_at, page, text, links"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRow:
    """One settled fetch.

    Args:
        place: Its row id in the segment.
        text: All visible text; empty when it was not stored.
        main: The packed main text, if that was stored.
        markup: The packed markup, if that was stored.
        anchors: The URLs and anchor texts of its links.
        topics: The packed judgements for several topics, if there are any.
    """

    place: int
    fingerprint: int
    url: str
    title: str
    language: str
    relevance: float
    relevant: bool
    fetched_at: float
    page: bool
    text: str
    main: bytes | None
    markup: bytes | None
    anchors: list[tuple[str, str]]
    topics: str | None


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Name the damaged file in errors.

    Raises:
        StoreError: The segment cannot be read.
    """
    try:
        yield
    except (sqlite3.Error, DamagedFile) as error:
        raise StoreError(f"{path} cannot be read: {error}; try: thresher verify --repair") from error


class Segment:
    """One file of the page store, opened for reading."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.uri = readable_uri(path)
        with reading(path):
            self._db = sqlite3.connect(self.uri, uri=True, timeout=60, isolation_level=None)
            self.is_empty = check_version(self._db, path) == 0
            columns = {row[1] for row in self._db.execute("PRAGMA table_info(page)")}
            self.stream = _stream_of(self._db) or path.stem
            """The stream of a collection that has its changes."""
        self.has_topics = "topics" in columns
        later = (name if name in columns else "NULL" for name in ("main", "markup", "topics"))
        self._columns = ", ".join([_COLUMNS, *later])

    def close(self) -> None:
        self._db.close()

    def last(self) -> int:
        with reading(self.path):
            return int(self._db.execute("SELECT coalesce(max(id), 0) FROM page").fetchone()[0])

    def stamp(self) -> str:
        """Return times and sizes of the files; they stay the same as long as nothing is written."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        stats = [file.stat() for file in files if file.exists()]
        return " ".join(f"{stat.st_mtime_ns}:{stat.st_size}" for stat in stats)

    def has_newer(self, fingerprint: int, fetched_at: float, place: int, *, or_same: bool = False) -> bool:
        """Return whether a later row has a page of the same URL; `place` is 0 for a row of another segment.

        Args:
            or_same: Whether another copy of the same row counts too.
        """
        behind = "id > ?" if place else "fetched_at >= ?" if or_same else "fetched_at > ?"
        query = f"SELECT 1 FROM page WHERE fingerprint = ? AND page = 1 AND {behind} LIMIT 1"  # noqa: S608 - our own
        with reading(self.path):
            return self._db.execute(query, [fingerprint, place or fetched_at]).fetchone() is not None

    def after(self, place: int, most: int, *, until: int | None = None) -> list[SegmentRow]:
        """Return the rows after a row, in their order, up to the row `until`."""
        query = f"SELECT {self._columns} FROM page WHERE id > ? AND id <= ? ORDER BY id LIMIT ?"  # noqa: S608 - our own names
        with reading(self.path):
            last = self.last() if until is None else until
            return [_row(values) for values in self._db.execute(query, [place, last, most])]

    def main_text(self, row: SegmentRow) -> str:
        """Return the main text of a row; the whole text when no main text is found."""
        with reading(self.path):
            return StoredContent(row.url, main=row.main, markup=row.markup).content().text or row.text


def _stream_of(db: sqlite3.Connection) -> str:
    """Return the name of the stream of a segment that this machine uploads; empty for others."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'stream'").fetchone() is None:
        return ""
    found = db.execute("SELECT name FROM stream").fetchone()
    return str(found[0]) if found else ""


def _row(values: Sequence[Any]) -> SegmentRow:
    return SegmentRow(
        place=values[0],
        fingerprint=values[1],
        url=values[2],
        title=values[3],
        language=values[4],
        relevance=values[5],
        relevant=bool(values[6]),
        fetched_at=values[7],
        page=bool(values[8]),
        text=unpacked_text(values[9]),
        main=values[11],
        markup=values[12],
        topics=values[13],
        anchors=[(link.url, link.anchor) for link in unpacked_links(values[10]) if link.anchor],
    )


def open_segments(folder: Path) -> list[Segment]:
    """Open all segments of a page store; one without tables yet is left for the next time."""
    found: list[Segment] = []
    with ExitStack() as half_open:
        for path in segment_files(folder):
            found.append(Segment(path))
            half_open.callback(found[-1].close)
        half_open.pop_all()
    for segment in found:
        if segment.is_empty:
            segment.close()
    return [segment for segment in found if not segment.is_empty]
