"""Search segments: parts of an index that are built once, on the machine that fetched the pages, and used by all.

A search segment is an index of consecutive rows of one stream, in a file of its own. The machine of the stream indexes
rows when they are uploaded. It completes a file when the file has twice the rows of the last one, and at the end of a
run. The next file then replaces it: it has the same rows and more, up to `MAX_ROWS`. Other machines add the files to
their index, and index only the rows after them.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from thresher.compression import zstd
from thresher.search.indexer import SearchIndexer
from thresher.search.near_duplicates import NearDuplicateTables
from thresher.search.page_rows import Segment

VERSION = 2
"""Increased whenever terms, tables or signatures change; an index of another version is rebuilt."""
MAX_ROWS = 50_000
ROWS_AT_ONCE = 2_000
"""Rows that one call indexes while a crawl runs, so that uploads of pages do not wait long."""
_BLOCK_BYTES = 1 << 20
_NAME = re.compile(r"(?P<stream>[a-z0-9][a-z0-9.-]{0,90})\.(?P<first>\d{1,15})-(?P<last>\d{1,15})\.db").fullmatch
_SCHEMA = resources.files("thresher.search") / "sql" / "schema.sql"
_UPLOADED = "SELECT (SELECT min(id) FROM change WHERE version > ?), (SELECT max(id) FROM page)"


@dataclass(frozen=True, order=True, slots=True)
class SearchSegment:
    """The rows `first` to `last` of a stream, as an index."""

    stream: str
    first: int
    last: int

    @property
    def name(self) -> str:
        return f"{self.stream}.{self.first}-{self.last}.db"

    @classmethod
    def from_name(cls, name: str) -> SearchSegment | None:
        """Read the name of a file; None for any other name."""
        found = _NAME(name)
        return cls(found["stream"], int(found["first"]), int(found["last"])) if found else None


def create_tables(db: sqlite3.Connection) -> None:
    """Create the tables of an index."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.executescript(_SCHEMA.read_text(encoding="utf-8"))
    NearDuplicateTables(db)
    db.execute(f"PRAGMA user_version = {VERSION}")


def open_part(path: Path) -> sqlite3.Connection:
    """Open a search segment; its file may come from another machine.

    Raises:
        sqlite3.DatabaseError: It is none of this version.
    """
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", isolation_level=None, timeout=60, uri=True)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        (code,) = db.execute("SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchone()
        if code or db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise sqlite3.DatabaseError(f"{path.name} is no search segment of version {VERSION}")
    except BaseException:
        db.close()
        raise
    return db


def next_parts(parts: Iterable[SearchSegment], position: int, last_row: int) -> Iterator[SearchSegment]:
    """Yield the parts of one stream that continue an index after a row; of several the longest."""
    known = sorted(part for part in parts if part.last <= last_row)
    while continuing := [part for part in known if part.first == position + 1 and part.last > position]:
        yield continuing[-1]
        position = continuing[-1].last


def mark_outdated(dbs: Sequence[sqlite3.Connection]) -> None:
    """Of the documents of a URL in several databases, only the latest stays live."""
    query = "SELECT ?, id, fingerprint, fetched_at FROM doc WHERE live"
    rows = [row for place, db in enumerate(dbs) for row in db.execute(query, [place])]
    pages = np.array([row[2] for row in rows], np.int64)
    order = np.lexsort((np.array([row[3] for row in rows]), pages))
    is_outdated = pages[order[:-1]] == pages[order[1:]]
    for number in order[:-1][is_outdated].tolist():
        place, doc, _, _ = rows[number]
        dbs[place].execute("UPDATE doc SET live = 0 WHERE id = ?", [doc])


class SearchSegmentBuilder:
    """Builds the search segments of a machine.

    Args:
        folder: For the open indexes, and for the complete ones, which are compressed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def build(self, path: Path, version: int, *, everything: bool = False) -> list[Path]:
        """Index rows of a segment that are uploaded; return its complete files.

        Args:
            path: A segment of the page store whose changes are recorded.
            version: The version up to which its changes are uploaded.
            everything: Whether all rows are indexed, and the last file completed.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with closing(Segment(path)) as segment:
            last_row = _last_uploaded(path, version)
            while self._index(segment, last_row, everything=everything) and everything:
                pass
            return [path for path, part in self._complete() if part.stream == segment.stream]

    def _index(self, segment: Segment, last_row: int, *, everything: bool) -> bool:
        """Index some rows; return whether there are more."""
        first = self._first(segment.stream)
        work = self._folder / f"{segment.stream}.{first}.open"
        with closing(sqlite3.connect(work, isolation_level=None, timeout=60)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                create_tables(db)
            until = min(last_row, first + MAX_ROWS - 1)
            indexer = SearchIndexer(db, [segment])
            last = indexer.index(segment, segment.stream, after=first - 1, until=until, most=ROWS_AT_ONCE)
            complete = [
                part.last for _, part in self._complete() if (part.stream, part.first) == (segment.stream, first)
            ]
            before = max(complete, default=first - 1)
            is_done = not segment.after(last, 1, until=until)
            is_full = is_done and first <= last and until < last_row
            has_grown = last - first + 1 >= max(ROWS_AT_ONCE, 2 * (before - first + 1))
            if last > before and (is_full or has_grown or (everything and is_done)):
                self._write(db, SearchSegment(segment.stream, first, last))
        if is_full:
            for ending in ("", "-wal", "-shm"):
                work.with_name(work.name + ending).unlink(missing_ok=True)
        return is_full or not is_done

    def _first(self, stream: str) -> int:
        """Return the first row of the open file of a stream."""
        for path in self._folder.glob(f"{stream}.*.open"):
            return int(path.suffixes[-2].removeprefix("."))
        return 1 + max((part.last for _, part in self._complete() if part.stream == stream), default=0)

    def _complete(self) -> list[tuple[Path, SearchSegment]]:
        found = [(path, SearchSegment.from_name(path.stem)) for path in sorted(self._folder.glob("*.db.zst"))]
        return [(path, part) for path, part in found if part]

    def _write(self, db: sqlite3.Connection, part: SearchSegment) -> None:
        """Write a complete file, compressed, and delete the one that it replaces."""
        replaced = [path for path, each in self._complete() if (each.stream, each.first) == (part.stream, part.first)]
        plain = self._folder / f".{part.name}"
        plain.unlink(missing_ok=True)
        db.execute("VACUUM INTO ?", [str(plain)])
        with closing(sqlite3.connect(plain, isolation_level=None)) as copy:
            copy.execute("DELETE FROM alike_band")  # only needed to add pages
            for table in ("words", "anchor_words"):
                copy.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - our own names
            copy.execute("VACUUM")
        temporary = self._folder / f".{part.name}.zst"
        with plain.open("rb") as content, zstd.ZstdFile(temporary, "wb", level=3) as file:
            shutil.copyfileobj(content, file)
        temporary.replace(self._folder / f"{part.name}.zst")
        for path in (plain, *replaced):
            path.unlink(missing_ok=True)


def unpack(content: Path, path: Path, *, max_bytes: int = 16 << 30) -> None:
    """Decompress a search segment.

    Raises:
        sqlite3.DatabaseError: It cannot be decompressed, or is too large.
    """
    size = 0
    try:
        with zstd.ZstdFile(content) as file, path.open("wb") as plain:
            while block := file.read(_BLOCK_BYTES):
                size += len(block)
                if size > max_bytes:
                    raise sqlite3.DatabaseError(f"{path.name} is larger than {max_bytes:,} bytes")
                plain.write(block)
    except (zstd.ZstdError, EOFError) as error:
        raise sqlite3.DatabaseError(f"{path.name} cannot be decompressed: {error}") from error


def _last_uploaded(path: Path, version: int) -> int:
    """Return the row up to which all rows of a segment are uploaded: one that is revised meanwhile waits."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        waiting, last = db.execute(_UPLOADED, [version]).fetchone()
    return int(last or 0) if waiting is None else int(waiting) - 1
