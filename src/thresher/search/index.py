"""The search index of a crawl: one file beside the page store, updated before each search.

It holds nothing that the page store does not, so whatever is wrong with it (missing, damaged, of another version,
ahead of the store), it is rebuilt. Where the crawl's folder cannot be written, the index is a temporary file for the
time of one search.

Of a crawl with a collection, pages of other machines are indexed already: their search segments are files in a folder
beside the index, and are searched with it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import StoreError, disk_full, is_disk_full
from thresher.search.indexer import SearchIndexer, StaleIndex
from thresher.search.mirrors import Mirror, find_mirrors
from thresher.search.near_duplicates import NearDuplicateTables
from thresher.search.page_rows import Segment, open_segments
from thresher.search.query import SearchQuery
from thresher.search.ranking import Filters, SearchHit, SearchOrder, find
from thresher.search.search_segments import (
    VERSION,
    SearchSegment,
    create_tables,
    mark_outdated,
    next_parts,
    open_part,
    unpack,
)

NAME = "search.db"
PARTS = "search"
"""The folder of search segments."""
MAX_DEAD_SHARE = 0.5
"""An index with a larger share of outdated rows, of pages that were fetched again, is rebuilt."""

_FILES = ("", "-wal", "-shm", "-journal")


class SearchIndex:
    """Full-text search over the pages of a crawl.

    Args:
        folder: The crawl's folder.
        pages: The folder of segments.
    """

    def __init__(self, folder: Path, pages: Path) -> None:
        self._pages = pages
        self._temporary = None if os.access(folder, os.W_OK) else tempfile.TemporaryDirectory(prefix="thresher-search-")
        self.path = Path(self._temporary.name if self._temporary else folder) / NAME
        self._db: sqlite3.Connection | None = None
        self._parts: dict[str, sqlite3.Connection] = {}

    def close(self) -> None:
        self._close_databases()
        if self._temporary:
            self._temporary.cleanup()

    def __enter__(self) -> SearchIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def catch_up(self, progress: Callable[[int], None] | None = None) -> int | None:
        """Index the new rows of the page store; return their number, None while another process does it.

        Raises:
            DiskFull: There is no space for it.
            StoreError: The index cannot be written.
        """
        with self._write_lock() as locked:
            if not locked:
                return None
            with _translated_errors(self.path):
                try:
                    return self._update(progress)
                except (sqlite3.DatabaseError, StaleIndex) as error:
                    if _is_environment_error(error):
                        raise
                    self._delete_files()
                    return self._update(progress)

    def missing_parts(self, parts: Iterable[SearchSegment]) -> list[SearchSegment]:
        """Return those search segments that have the rows after the indexed ones; `add_part` adds them."""
        by_stream: dict[str, list[SearchSegment]] = {}
        for part in parts:
            by_stream.setdefault(part.stream, []).append(part)
        with _translated_errors(self.path), _opened_segments(self._pages) as segments:
            try:
                positions = dict(self._opened().execute("SELECT name, last_row FROM segment").fetchall())
            except sqlite3.DatabaseError as error:
                if _is_environment_error(error):
                    raise
                positions = {}  # it is rebuilt by the next update
            return [
                part
                for segment in segments
                for part in next_parts(
                    by_stream.get(segment.stream, ()), positions.get(segment.path.name, 0), segment.last()
                )
            ]

    def add_part(self, part: SearchSegment, packed: Path) -> None:
        """Add a compressed search segment; the next update uses it, unless its rows are indexed by then."""
        folder = self.path.parent / PARTS
        folder.mkdir(exist_ok=True)
        temporary = folder / f".{part.name}.new"
        with _translated_errors(temporary):
            unpack(packed, temporary)
        temporary.replace(folder / part.name)

    def search(
        self,
        query: SearchQuery,
        filters: Filters | None = None,
        *,
        limit: int = 10,
        order: SearchOrder = SearchOrder.MATCH,
    ) -> list[SearchHit]:
        """Return the best pages, one of each group of near duplicates."""
        with _translated_errors(self.path):
            try:
                return find(self._databases(), query, filters or Filters(), limit=limit, order=order)
            except sqlite3.DatabaseError as error:
                if _is_environment_error(error):
                    raise
        self.rebuild()
        return find(self._databases(), query, filters or Filters(), limit=limit, order=order)

    def rebuild(self) -> None:
        with self._write_lock() as locked:
            if locked:
                self._delete_files()
        self.catch_up()

    def pages(self) -> int:
        """Return the number of indexed pages."""
        return sum(int(db.execute("SELECT count(*) FROM doc WHERE live").fetchone()[0]) for db in self._databases())

    def group(self, fingerprint: int) -> tuple[int, ...]:
        """Return the near duplicates of a page, itself among them, the representative first.

        Relevant pages come before others, then the oldest first.
        """
        members = NearDuplicateTables(self._opened()).group(fingerprint).members
        marks = ",".join("?" * len(members))
        rows = self._opened().execute(
            f"SELECT fingerprint FROM doc WHERE live AND fingerprint IN ({marks}) "  # noqa: S608 - only marks
            "ORDER BY relevant DESC, fetched_at, fingerprint",
            members,
        )
        return tuple(int(member) for (member,) in rows) or (fingerprint,)

    def mirrors(self) -> list[Mirror]:
        return find_mirrors(self._databases())

    def _update(self, progress: Callable[[int], None] | None) -> int:
        db = self._opened()
        with _opened_segments(self._pages) as segments:
            if self._use_parts(segments):
                mark_outdated(self._databases())
            indexed = SearchIndexer(db, segments, progress, self._databases()[1:]).run()
        live, dead = db.execute("SELECT total(live), count(*) - total(live) FROM doc").fetchone()
        if dead > MAX_DEAD_SHARE * (live + dead):
            raise StaleIndex(self.path.name)
        return indexed

    def _use_parts(self, segments: Sequence[Segment]) -> bool:
        """Use the added search segments that continue the index, delete the others; return whether there are new ones.

        Raises:
            StaleIndex: The file of a search segment is missing.
        """
        db, used = self._opened(), self._used_parts()
        files = {path.name: path for path in (self.path.parent / PARTS).glob("*.db")}
        if missing := used - files.keys():
            raise StaleIndex(min(missing))
        by_stream = {segment.stream: segment for segment in segments}
        new = sorted(part for name in files.keys() - used if (part := SearchSegment.from_name(name)))
        unused = [part for part in new if not self._use_part(db, by_stream.get(part.stream), part)]
        for part in unused:
            files[part.name].unlink()
        return len(unused) < len(new)

    def _use_part(self, db: sqlite3.Connection, segment: Segment | None, part: SearchSegment) -> bool:
        """Use a search segment, if it is readable and has the rows after the indexed ones of its segment."""
        if segment is None:
            return False
        name = segment.path.name
        found = db.execute("SELECT last_row FROM segment WHERE name = ?", [name]).fetchone()
        if (found[0] if found else 0) != part.first - 1 or part.last > segment.last():
            return False
        try:
            opened = open_part(self.path.parent / PARTS / part.name)
        except sqlite3.DatabaseError:
            return False
        opened.execute("PRAGMA journal_mode = WAL")
        opened.close()
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO segment (name, last_row, stamp) VALUES (?, ?, '')", [f"{PARTS}/{part.name}", part.last])
        db.execute(
            "INSERT INTO segment (name, last_row, stamp) VALUES (?, ?, '') "
            "ON CONFLICT (name) DO UPDATE SET last_row = excluded.last_row, stamp = ''",
            [name, part.last],
        )
        db.execute("COMMIT")
        return True

    def _used_parts(self) -> set[str]:
        names = self._opened().execute("SELECT name FROM segment WHERE instr(name, '/')")
        return {name.rpartition("/")[2] for (name,) in names}

    def _databases(self) -> list[sqlite3.Connection]:
        """Return the index and its search segments, opened."""
        main, used = self._opened(), self._used_parts()
        for name in self._parts.keys() - used:
            self._parts.pop(name).close()
        for name in used - self._parts.keys():
            self._parts[name] = open_part(self.path.parent / PARTS / name)
        return [main, *self._parts.values()]

    def _opened(self) -> sqlite3.Connection:
        if self._db is None:
            db = sqlite3.connect(self.path, isolation_level=None, timeout=60, uri=True)
            try:
                self._prepare(db)
            except BaseException:
                db.close()
                raise
            self._db = db
        return self._db

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == VERSION:  # nothing is written, so no writer has to be waited for
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError(f"{self.path.name} is of version {version}, not {VERSION}")
        create_tables(db)

    def _close_databases(self) -> None:
        for db in (self._db, *self._parts.values()):
            if db:
                db.close()
        self._db, self._parts = None, {}

    def _delete_files(self) -> None:
        self._close_databases()
        for ending in _FILES:
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        shutil.rmtree(self.path.parent / PARTS, ignore_errors=True)

    @contextmanager
    def _write_lock(self) -> Iterator[bool]:
        """Lock the index for writing, and yield whether that worked; the lock ends with its process."""
        try:
            lock = self.path.with_name(".search.lock").open("a")
        except OSError as error:
            raise StoreError(
                f"{self.path.parent} cannot be written: {error.strerror}; the index needs it. Change its permissions"
            ) from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


@contextmanager
def _opened_segments(pages: Path) -> Iterator[list[Segment]]:
    segments = open_segments(pages)
    try:
        yield segments
    finally:
        for segment in segments:
            segment.close()


def _is_environment_error(error: Exception) -> bool:
    """Return whether a rebuild would meet the same error: a full disk, missing permissions, another's lock."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
    )


@contextmanager
def _translated_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if is_disk_full(error):
            raise disk_full() from error
        raise StoreError(f"{path} cannot be used: {error}; delete it, it is rebuilt from the pages") from error
