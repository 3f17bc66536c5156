"""A frontier file and the programs that change it.

Each change is one *program*: a trigger on a view, both of them temporary, whose columns are the program's parameters.
One INSERT runs it from start to end inside SQLite, so it is one transaction, and the thread waits for the
interpreter's lock once per change and not once per row: beside a busy event loop each such wait takes up to 5 ms.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from thresher.errors import StoreError, StoreUnreachable, disk_full, is_disk_full
from thresher.frontier.checkpoints import Checkpoints
from thresher.frontier.steady import steady_clock

VERSION = 2
"""Counts the changes of `schema.sql` that an older Thresher cannot read."""

_BUSY_SECONDS = 60.0
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL")
_PROGRAMS = ("workbench", "tidy", "add", "commit", "release", "lease", "park", "rescore", "adjust", "reopen")
_LINKS_AT_ONCE = 64
_LINK_COLUMNS = 10
# Measured with bench/frontier.py: a larger cache or mmap gains nothing beside the system's own cache, and with several
# processes on the file it costs, for each commit of one empties the caches of the others.
_PRAGMAS = (
    "temp_store = MEMORY",
    "secure_delete = OFF",  # some builds overwrite what is deleted with zeros
    "cache_size = -8192",
    "wal_autocheckpoint = 64000",  # only when `Checkpoints` cannot keep up
)

LinkRow = tuple[int, int, int, str, float, int, int, int, int, str | None]
"""A candidate as a row of `link`: number, place of its host in the list of hosts, fingerprint, url, score, …"""


class SqliteFile:
    """A frontier file: one connection that works, to be used by one thread at a time, and one for glances.

    Args:
        path: The file; made when it is not there, its folder must be.
        synchronous: What SQLite promises when the power fails: ``NORMAL`` or ``FULL``.
        settings: The row of the table `setting`.
    """

    def __init__(self, path: Path, *, synchronous: str, settings: Mapping[str, object]) -> None:
        if synchronous not in _SYNCHRONOUS:
            raise ValueError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}, got {synchronous!r}")
        self._path = path
        self._db = self._open(partial(_connect, path, synchronous), settings)
        self._glances = _connect(path, synchronous)
        self._checkpoints = Checkpoints(partial(_connect, path, synchronous))

    def clock(self) -> Callable[[], float]:
        """Return the clock that all processes on the file go by."""
        with self._in_words():
            return steady_clock(self._db)

    def run(self, program: str, **parameters: object) -> list[Any]:
        """Run a program and return what it answered."""
        with self._in_words():
            self._db.execute(_call(program, tuple(parameters)), parameters)
            answer: list[Any] = json.loads(self._db.execute(_sql("answer")).fetchone()[0])
        return answer

    def read(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a query, or one statement of its own, and return its rows."""
        with self._in_words():
            return self._db.execute(_sql(query), parameters).fetchall()

    def glance(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Look a row up by its key, in the thread that asks: that takes less than handing the question over.

        Never waits for whoever writes; sees what was committed before.
        """
        with self._in_words():
            return self._glances.execute(_sql(query), parameters).fetchall()

    def bring_links(self, rows: Sequence[LinkRow]) -> None:
        """Lay candidates ready for the program that is run next."""
        with self._in_words():
            for start in range(0, len(rows), _LINKS_AT_ONCE):
                part = rows[start : start + _LINKS_AT_ONCE]
                self._db.execute(_insert_links(len(part)), tuple(chain.from_iterable(part)))

    def close(self) -> None:
        """Let go of the file."""
        self._checkpoints.close()
        with self._in_words():
            self._glances.close()
            self._db.close()

    def _open(self, connect: Callable[[], sqlite3.Connection], settings: Mapping[str, object]) -> sqlite3.Connection:
        with self._in_words():
            db = connect()
            try:
                self._make_tables(db)
                _load_programs(db, settings)
            except BaseException:
                db.close()
                raise
        return db

    def _make_tables(self, db: sqlite3.Connection) -> None:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(
                f"{self._path} was written by a newer Thresher (its version is {version}, this one reads up to "
                f"{VERSION}). Use that one, or start a new crawl."
            )
        if version < VERSION:
            _switch_to_log(db)
            db.executescript(f"BEGIN IMMEDIATE; {_sql('schema')} PRAGMA user_version = {VERSION}; COMMIT;")
        with suppress(sqlite3.OperationalError):  # without it only the list of failures takes longer
            db.execute(_sql("failed_index"))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if is_disk_full(error):
                raise disk_full() from error
            if self._path.parent.is_dir() and not os.access(self._path.parent, os.W_OK):
                raise StoreError(f"{self._path.parent} cannot be written, only read") from error
            raise StoreUnreachable(f"the frontier {self._path} cannot be used now: {error}") from error
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self._path} is not a usable frontier: {error}") from error


def _connect(path: Path, synchronous: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        for setting in (*_PRAGMAS, f"synchronous = {synchronous}"):
            db.execute(f"PRAGMA {setting}")
    except BaseException:
        db.close()
        raise
    return db


def _switch_to_log(db: sqlite3.Connection) -> None:
    """Keep trying: when several processes make the file, SQLite refuses this at once instead of waiting."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _load_programs(db: sqlite3.Connection, settings: Mapping[str, object]) -> None:
    db.execute("SELECT 1 FROM tally")  # makes SQLite look at tables that another process has just made; programs do not
    for program in _PROGRAMS:
        db.executescript(_sql(program))
    db.execute(_call("setting", tuple(settings)), dict(settings))


def statement(name: str) -> str:
    """Return the text of a query, for a connection of one's own."""
    return _sql(name)


@cache
def _sql(name: str) -> str:
    return files("thresher.frontier").joinpath("sql", f"{name}.sql").read_text("utf-8")


@cache
def _call(program: str, parameters: tuple[str, ...]) -> str:
    places = ", ".join(f":{name}" for name in parameters)
    return f"INSERT INTO {program} ({', '.join(parameters)}) VALUES ({places})"  # noqa: S608 - names, never values


@cache
def _insert_links(rows: int) -> str:
    places = f"({', '.join('?' * _LINK_COLUMNS)})"
    return f"INSERT OR REPLACE INTO link VALUES {', '.join([places] * rows)}"  # noqa: S608 - question marks only
