"""Opening SQLite files for reading, also in folders that are not writable.

Even to read a file in WAL mode, SQLite must be able to write a small index file beside it. In a read-only folder and on
a full disk it cannot.
"""

from __future__ import annotations

import atexit
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR)
_SUFFIXES = ("", "-wal")


def open_to_read(path: Path, *, timeout: float = 60.0, check_same_thread: bool = True) -> sqlite3.Connection:
    """Open a SQLite file for reading, without implicit transactions."""
    uri = readable_uri(path)
    return sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=check_same_thread)


def readable_uri(path: Path) -> str:
    """Return a URI with which a SQLite file can be read.

    Usually that is the file, read-only. Where no index can be written beside it: the file as immutable, if its log is
    empty; else a temporary copy of file and log, which is deleted when this process ends.
    """
    uri = path.absolute().as_uri()
    try:
        with closing(sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=60)) as db:
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _NOT_WRITABLE and path.is_file():
            return f"{_copy_of(path).as_uri()}?mode=ro" if _has_log(path) else f"{uri}?mode=ro&immutable=1"
    return f"{uri}?mode=ro"  # other errors are reported when the file is read


def copy_database(path: Path, folder: Path) -> Path:
    """Copy a SQLite file with its log into a folder; return the copy."""
    for suffix in _SUFFIXES:
        source = path.with_name(path.name + suffix)
        if source.is_file():
            shutil.copyfile(source, folder / source.name)
    return folder / path.name


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def _copy_of(path: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="thresher-read-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return copy_database(path, folder)
