"""The formats of a segment of the page store: which there were, and how an older one is read and brought up to date."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path

from thresher.errors import StoreError

SCHEMA_VERSION = 3

_ADDED = {
    2: {"probability": "REAL"},
    3: {"etag": "TEXT NOT NULL DEFAULT ''", "last_modified": "TEXT NOT NULL DEFAULT ''", "main": "BLOB"},
}
"""The columns that came with each format since the first."""


def check_version(db: sqlite3.Connection, path: Path) -> int:
    """Return the format of a segment, 0 for one without any tables yet; close one that cannot be read.

    Raises:
        StoreError: A newer Thresher wrote it.
    """
    try:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error:
        db.close()
        raise
    if version > SCHEMA_VERSION:
        db.close()
        raise StoreError(
            f"{path.name} was written by a newer Thresher: it has format {version}, this Thresher reads up to "
            f"{SCHEMA_VERSION}; use that one"
        )
    return version


def check_all(folder: Path) -> None:
    """Look at all segments before anything is written.

    Raises:
        StoreError: A newer Thresher wrote one of them.
    """
    for path in sorted(folder.glob("*.db")):
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
        with closing(db), suppress(sqlite3.DatabaseError):  # what is damaged is told by whoever reads it
            check_version(db, path)


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new segment, or bring an older one up to date, whole or not at all: then `db` is closed."""
    try:
        _prepare(db, path)
    except BaseException:
        db.close()
        raise


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    db.execute("BEGIN IMMEDIATE")
    version = check_version(db, path)
    for column, kind in _missing(version).items() if version else ():
        db.execute(f"ALTER TABLE page ADD COLUMN {column} {kind}")
    for statement in _schema().split(";"):
        db.execute(statement)  # a script would end the transaction
    db.execute("COMMIT")


def read_as_newest(db: sqlite3.Connection, version: int) -> None:
    """Let a reader see an older segment as if it had all columns; the file stays as it is."""
    if missing := _missing(version):
        values = ", ".join(
            f"{'NULL' if 'NOT NULL' not in kind else repr('')} AS {name}" for name, kind in missing.items()
        )
        db.execute(f"CREATE TEMP VIEW page AS SELECT *, {values} FROM main.page")  # noqa: S608 - our own names


def _missing(version: int) -> dict[str, str]:
    return {name: kind for added, columns in _ADDED.items() if added > version for name, kind in columns.items()}


def _schema() -> str:
    text = (resources.files("thresher.archive") / "sql" / "schema.sql").read_text(encoding="utf-8")
    return "\n".join(line.partition("--")[0] for line in text.splitlines())
