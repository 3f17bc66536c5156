"""The search index of a crawl: one file beside the page store, brought up to date when somebody searches.

It holds nothing that the page store does not, so whatever is wrong with it (missing, damaged, of another version,
ahead of the store) has one remedy: it is made anew. Where the crawl's folder cannot be written it lives in a temporary
file for the time of one search.
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

from thresher.archive.groups import GroupTables
from thresher.errors import StoreError, disk_full, is_disk_full
from thresher.search.find import Filters, Found, Order, find
from thresher.search.intake import Intake, StaleIndex
from thresher.search.mirrors import Mirror, find_mirrors
from thresher.search.query import Query

NAME = "search.db"
VERSION = 1
"""Raised whenever terms, tables or signatures change; an index of another version is made anew."""
MOST_DEAD_SHARE = 0.5
"""An index of which more than this is about pages that were fetched again is made anew."""

_SCHEMA = resources.files("thresher.search") / "sql" / "schema.sql"
_FILES = ("", "-wal", "-shm", "-journal")


class SearchIndex:
    """Answers questions about the pages of a crawl.

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
        """Let go of the file."""
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
        """Take in what is new in the page store; return how many rows that were, None while another process does it.

        Raises:
            DiskFull: There is no room for it.
            StoreError: The index cannot be written.
        """
        with self._only_one() as alone:
            if not alone:
                return None
            with _words_for_errors(self.path):
                try:
                    return self._intake(progress)
                except (sqlite3.DatabaseError, StaleIndex) as error:
                    if _is_outside_trouble(error):
                        raise
                    self._start_anew()
                    return self._intake(progress)

    def search(
        self, query: Query, filters: Filters | None = None, *, limit: int = 10, order: Order = Order.MATCH
    ) -> list[Found]:
        """Return the best pages, one of each group of near duplicates."""
        with _words_for_errors(self.path):
            try:
                return find(self._opened(), query, filters or Filters(), limit=limit, order=order)
            except sqlite3.DatabaseError as error:
                if _is_outside_trouble(error):
                    raise
        self.catch_up_anew()
        return find(self._opened(), query, filters or Filters(), limit=limit, order=order)

    def catch_up_anew(self) -> None:
        """Make the index anew from the page store."""
        with self._only_one() as alone:
            if alone:
                self._start_anew()
        self.catch_up()

    def pages(self) -> int:
        """Count the pages that can be found."""
        return int(self._opened().execute("SELECT count(*) FROM doc WHERE live").fetchone()[0])

    def group(self, fingerprint: int) -> tuple[int, ...]:
        """Give the pages that say nearly the same as a page, itself among them, its representative first.

        That is one which the judge calls relevant before others, then the one that came first.
        """
        members = GroupTables(self._opened()).group(fingerprint).members
        marks = ",".join("?" * len(members))
        rows = self._opened().execute(
            f"SELECT fingerprint FROM doc WHERE live AND fingerprint IN ({marks}) "  # noqa: S608 - only marks
            "ORDER BY relevant DESC, fetched_at, fingerprint",
            members,
        )
        return tuple(int(member) for (member,) in rows) or (fingerprint,)

    def mirrors(self) -> list[Mirror]:
        """Give the pairs of hosts that are mirrors of each other."""
        return find_mirrors(self._opened())

    def _intake(self, progress: Callable[[int], None] | None) -> int:
        db = self._opened()
        taken = Intake(db, self._pages, progress).run()
        live, dead = db.execute("SELECT total(live), count(*) - total(live) FROM doc").fetchone()
        if dead > MOST_DEAD_SHARE * (live + dead):
            raise StaleIndex(self.path.name)
        return taken

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
        if version == VERSION:  # nothing is written, so nobody who writes has to be waited for
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise sqlite3.DatabaseError(f"{self.path.name} is of version {version}, not {VERSION}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.executescript(_SCHEMA.read_text(encoding="utf-8"))
        GroupTables(db)
        db.execute(f"PRAGMA user_version = {VERSION}")

    def _start_anew(self) -> None:
        if self._db:
            self._db.close()
            self._db = None
        for ending in _FILES:
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _only_one(self) -> Iterator[bool]:
        """Let one process at a time write; the lock goes with its process, however that ends."""
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


def _is_outside_trouble(error: Exception) -> bool:
    """Tell whether making the index anew would meet the same error: no room, no right, or somebody else's lock."""
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
def _words_for_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if is_disk_full(error):
            raise disk_full() from error
        raise StoreError(f"{path} cannot be used: {error}; delete it, it is made anew from the pages") from error
