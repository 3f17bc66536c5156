"""The search index of a crawl: one file beside the page store, updated before each search.

It holds nothing that the page store does not, so whatever is wrong with it (missing, damaged, of another version,
ahead of the store), it is rebuilt. Where the crawl's folder cannot be written, the index is a temporary file for the
time of one search.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from thresher.errors import StoreError, disk_full, is_disk_full
from thresher.search.indexer import SearchIndexer, StaleIndex
from thresher.search.mirrors import Mirror, find_mirrors
from thresher.search.near_duplicates import NearDuplicateTables
from thresher.search.query import SearchQuery
from thresher.search.ranking import Filters, SearchHit, SearchOrder, find

NAME = "search.db"
VERSION = 2
"""Increased whenever terms, tables or signatures change; an index of another version is rebuilt."""
MOST_DEAD_SHARE = 0.5
"""An index with a larger share of outdated rows, of pages that were fetched again, is rebuilt."""

_SCHEMA = resources.files("thresher.search") / "sql" / "schema.sql"
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

    def close(self) -> None:
        if self._db:
            self._db.close()
            self._db = None
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
                return find(self._opened(), query, filters or Filters(), limit=limit, order=order)
            except sqlite3.DatabaseError as error:
                if _is_environment_error(error):
                    raise
        self.rebuild()
        return find(self._opened(), query, filters or Filters(), limit=limit, order=order)

    def rebuild(self) -> None:
        with self._write_lock() as locked:
            if locked:
                self._delete_files()
        self.catch_up()

    def pages(self) -> int:
        """Return the number of indexed pages."""
        return int(self._opened().execute("SELECT count(*) FROM doc WHERE live").fetchone()[0])

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
        return find_mirrors(self._opened())

    def _update(self, progress: Callable[[int], None] | None) -> int:
        db = self._opened()
        indexed = SearchIndexer(db, self._pages, progress).run()
        live, dead = db.execute("SELECT total(live), count(*) - total(live) FROM doc").fetchone()
        if dead > MOST_DEAD_SHARE * (live + dead):
            raise StaleIndex(self.path.name)
        return indexed

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
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA.read_text(encoding="utf-8"))
        NearDuplicateTables(db)
        db.execute(f"PRAGMA user_version = {VERSION}")

    def _delete_files(self) -> None:
        if self._db:
            self._db.close()
            self._db = None
        for ending in _FILES:
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _write_lock(self) -> Iterator[bool]:
        """Lock the index for writing, and yield whether that worked; the lock ends with its process."""
        try:
            lock = self.path.with_name(".search.lock").open("a")
        except OSError as error:
            raise StoreError(f"{self.path.parent} cannot be written: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


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
