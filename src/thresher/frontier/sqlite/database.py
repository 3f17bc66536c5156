"""A frontier file: the programs that change it, its checkpoints, and its clock.

Each change is one *program*: a trigger on a view, both of them temporary, whose columns are the program's parameters.
One INSERT runs it completely inside SQLite, so it is one transaction, and the thread waits for the GIL once per change
and not once per row: beside a busy event loop each such wait takes up to 5 ms.

The write-ahead log is copied into the file by a background thread.

The clock is not affected by changes of the wall clock: it is the wall-clock time when the file was first opened after
boot, plus the time that has passed since. All processes of a machine use the same clock, so no wait gets shorter and no
lease expires early when the wall clock is set.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from importlib.resources import files
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import Any

from thresher.errors import StoreError, StoreUnreachable, disk_full, is_disk_full
from thresher.frontier.old_entries import read_old_entry
from thresher.locale.translation import _
from thresher.reasons.legacy import add_functions

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_clock(db: sqlite3.Connection) -> Callable[[], float]:
    """Return the clock of a frontier file; the wall clock where the machine has no boot id."""
    try:
        boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return time.time
    with db:
        db.execute("BEGIN IMMEDIATE")
        kept = db.execute("SELECT began FROM clock WHERE start = ?", [boot_id]).fetchone()
        began = kept[0] if kept else time.time() - _since_boot()
        if not kept:
            db.execute("DELETE FROM clock")
            db.execute("INSERT INTO clock (start, began) VALUES (?, ?)", [boot_id, began])
    return lambda: began + _since_boot()


def reader_clock(db: sqlite3.Connection) -> Callable[[], float]:
    """Return the same clock for a reader; the wall clock when no process has opened the file since boot."""
    try:
        boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return time.time
    kept = db.execute("SELECT began FROM clock WHERE start = ?", [boot_id]).fetchone()
    if not kept:
        return time.time
    began: float = kept[0]
    return lambda: began + _since_boot()


def _since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


_CHECKPOINT_SECONDS = 1.0
_LONG_WAL_PAGES = 16_000


class Checkpoints:
    """Background thread that checkpoints the write-ahead log once a second.

    So hardly any commit waits for the disk, and a power failure loses no more than the last second or two. Threads of
    several processes on one file need no coordination.

    Args:
        connect: Opens a connection for the thread.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._stop = Event()
        self._thread = Thread(target=self._run, name="frontier-checkpoints", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; SQLite checkpoints the rest when the last connection is closed."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_CHECKPOINT_SECONDS):
            try:
                with closing(self._connect()) as db:
                    _checkpoint(db)
            except sqlite3.Error:  # such as a full disk: the next commit fails too, and reports it
                continue


def _checkpoint(db: sqlite3.Connection) -> None:
    _, wal_pages, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if wal_pages > _LONG_WAL_PAGES:
        # Commits during the checkpoint keep the log from restarting. Now they wait, for the little that is left.
        db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()


VERSION = 4
"""Version of `schema.sql`; raised when older versions of Thresher cannot read it."""

_BUSY_SECONDS = 60.0
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL")
_PROGRAMS = ("workbench", "tidy", "add", "commit", "release", "lease", "park", "rescore", "adjust", "reopen", "recount")
_LINKS_AT_ONCE = 64
_LINK_COLUMNS = 11
# Measured with bench/frontier.py: a larger cache or mmap gains nothing beside the system's own cache, and with several
# processes on the file it costs, because each commit of one invalidates the caches of the others.
_PRAGMAS = (
    "temp_store = MEMORY",
    "secure_delete = OFF",  # some builds overwrite deleted content with zeros
    "cache_size = -8192",
    "wal_autocheckpoint = 64000",  # only when `Checkpoints` cannot keep up
)

LinkRow = tuple[int, int, int, str, float, int, int, int, int, str | None, int]
"""A candidate as a row of `link`: number, index of its host in the list of hosts, fingerprint, url, score, …"""


class SqliteFile:
    """A frontier file: one connection for programs, to be used by one thread at a time, and one for short reads.

    Args:
        path: The file; created when missing, but its folder must exist.
        synchronous: Durability after a power failure: ``NORMAL`` or ``FULL``.
        settings: Row of the table `setting`.
    """

    def __init__(self, path: Path, *, synchronous: str, settings: Mapping[str, object]) -> None:
        if synchronous not in _SYNCHRONOUS:
            raise ValueError(f"synchronous must be one of {', '.join(_SYNCHRONOUS)}, got {synchronous!r}")
        self._path = path
        self._db = self._open(partial(_connect, path, synchronous), settings)
        self._reader = _connect(path, synchronous)
        self._checkpoints = Checkpoints(partial(_connect, path, synchronous))

    def clock(self) -> Callable[[], float]:
        """Return the clock that all processes on the file share."""
        with self._translate_errors():
            return boot_clock(self._db)

    def run(self, program: str, **parameters: object) -> list[Any]:
        """Run a program and return its result."""
        with self._translate_errors():
            self._db.execute(_call(program, tuple(parameters)), parameters)
            answer: list[Any] = json.loads(self._db.execute(_sql("answer")).fetchone()[0])
        return answer

    def read(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Run a query or a single statement, and return its rows."""
        with self._translate_errors():
            return self._db.execute(_sql(query), parameters).fetchall()

    def read_row(self, query: str, **parameters: object) -> list[tuple[Any, ...]]:
        """Look up a row by its key in the calling thread, which is faster than passing the query to another one.

        Never waits for writers; sees what was committed before.
        """
        with self._translate_errors():
            return self._reader.execute(_sql(query), parameters).fetchall()

    def stage_links(self, rows: Sequence[LinkRow]) -> None:
        """Write candidates to the table `link`, for the next program."""
        with self._translate_errors():
            for start in range(0, len(rows), _LINKS_AT_ONCE):
                part = rows[start : start + _LINKS_AT_ONCE]
                self._db.execute(_insert_links(len(part)), tuple(chain.from_iterable(part)))

    def close(self) -> None:
        self._checkpoints.close()
        with self._translate_errors():
            self._reader.close()
            self._db.close()

    def _open(self, connect: Callable[[], sqlite3.Connection], settings: Mapping[str, object]) -> sqlite3.Connection:
        with self._translate_errors():
            db = connect()
            try:
                self._create_tables(db)
                _load_programs(db, settings)
            except BaseException:
                db.close()
                raise
        return db

    def _create_tables(self, db: sqlite3.Connection) -> None:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise StoreError(
                _(
                    "{file} was written by a newer Thresher (its version is {version}, this one reads up to "
                    "{own}). Use that one, or start a new crawl.",
                    file=self._path,
                    version=version,
                    own=VERSION,
                )
            )
        if version < VERSION:
            _switch_to_wal(db)
            _convert_reasons(db)
            db.executescript(f"BEGIN IMMEDIATE; {_sql('schema')} COMMIT;")
            _add_kinds(db)
        with suppress(sqlite3.OperationalError):  # without the index only the list of failures is slower
            db.execute(_sql("failed_index"))

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if is_disk_full(error):
                raise disk_full() from error
            if self._path.parent.is_dir() and not os.access(self._path.parent, os.W_OK):
                raise StoreError(
                    _(
                        "{folder} cannot be written, only read; change its permissions, or copy the crawl",
                        folder=self._path.parent,
                    )
                ) from error
            raise StoreUnreachable(
                _("the frontier {file} cannot be used now: {error}", file=self._path, error=error)
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(_("{file} is not a usable frontier: {error}", file=self._path, error=error)) from error


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


def _switch_to_wal(db: sqlite3.Connection) -> None:
    """Switch to WAL mode, with retries: when several processes create the file, SQLite fails instead of waiting."""
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


TYPED_REASONS = 4
"""The version since which a reason is a kind and details; before, it was a text."""
_UNTYPED = "SELECT 1 FROM sqlite_master WHERE name = 'url' AND instr(sql, 'reason_kind') = 0"


def _convert_reasons(db: sqlite3.Connection) -> None:
    """Convert the reasons of an earlier version, unless another process did."""
    add_functions(db)
    db.execute("BEGIN IMMEDIATE")
    if db.execute(_UNTYPED).fetchone():
        for step in _sql("typed_reasons").split(";"):
            db.execute(step)  # a script would end the transaction
    db.execute("COMMIT")


def _add_kinds(db: sqlite3.Connection) -> None:
    """Write version 4: each URL has a kind."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        if not db.execute("SELECT 1 FROM pragma_table_info('url') WHERE name = 'kind'").fetchone():
            db.execute("ALTER TABLE url ADD COLUMN kind INTEGER NOT NULL DEFAULT 0")
            old = db.execute("SELECT url, hops, depth_left, carry, host, fingerprint FROM url")
            changes = [change for row in old if (change := _typed(*row))]  # few: most URLs are pages
            change_url = "UPDATE url SET kind = ?, depth_left = ?, carry = ? WHERE host = ? AND fingerprint = ?"
            db.executemany(change_url, changes)
        db.execute("PRAGMA user_version = 4")


def _typed(
    url: str, hops: int, depth_left: int, carry: str | None, *key: int
) -> tuple[int, int, str | None, int, int] | None:
    """Return the new fields of a URL of an earlier version and its key; None for a page, which stays as it is."""
    entry = read_old_entry(url, hops, depth_left, json.loads(carry) if carry else {})
    data = entry.for_host or entry.strategy_data
    host, number = key
    return (entry.kind, entry.depth_left, json.dumps(data) if data else None, host, number) if entry.kind else None


def _load_programs(db: sqlite3.Connection, settings: Mapping[str, object]) -> None:
    db.execute("SELECT 1 FROM tally")  # loads tables that another process has just created; programs do not
    for program in _PROGRAMS:
        db.executescript(_sql(program))
    db.execute(_call("setting", tuple(settings)), dict(settings))


def statement(name: str) -> str:
    """Return the text of a query, for use on another connection."""
    return _sql(name)


@cache
def _sql(name: str) -> str:
    return files(__package__).joinpath("sql", f"{name}.sql").read_text("utf-8")


@cache
def _call(program: str, parameters: tuple[str, ...]) -> str:
    places = ", ".join(f":{name}" for name in parameters)
    return f"INSERT INTO {program} ({', '.join(parameters)}) VALUES ({places})"  # noqa: S608 - names, never values


@cache
def _insert_links(rows: int) -> str:
    places = f"({', '.join('?' * _LINK_COLUMNS)})"
    return f"INSERT OR REPLACE INTO link VALUES {', '.join([places] * rows)}"  # noqa: S608 - question marks only
