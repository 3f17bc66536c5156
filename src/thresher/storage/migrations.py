"""Schema versions of page store segments: migrating an older segment, or reading it through a view."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from importlib import resources
from pathlib import Path

from thresher.errors import StoreError
from thresher.reasons.legacy import add_functions
from thresher.sqlite_files import open_to_read

SCHEMA_VERSION = 9

_ADDED = {
    2: {"probability": "REAL"},
    3: {"etag": "TEXT NOT NULL DEFAULT ''", "last_modified": "TEXT NOT NULL DEFAULT ''", "main": "BLOB"},
    4: {"reward": "REAL NOT NULL DEFAULT 0", "terms": "BLOB"},
    5: {"markup": "BLOB"},
    6: {"topics": "TEXT"},
    7: {"blocked": "TEXT NOT NULL DEFAULT ''", "opt_outs": "TEXT NOT NULL DEFAULT ''"},
    8: {"reason_kind": "TEXT NOT NULL DEFAULT ''"},
    9: {"signals": "TEXT NOT NULL DEFAULT ''"},
}
"""The columns added by each format since the first."""
ONE_RELEVANCE = 4
"""The format since which the relevance is a probability; before, the probability was a column beside the reward."""
TYPED_REASONS = 8
"""The format since which a reason is a kind and details; before, it was a text."""


def check_version(db: sqlite3.Connection, path: Path) -> int:
    """Return the format of a segment, 0 for one without tables yet; close a segment that cannot be read.

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
    """Check the format of all segments before anything is written.

    Raises:
        StoreError: A newer Thresher wrote one of them.
    """
    for path in sorted(folder.glob("*.db")):
        db = open_to_read(path)
        with closing(db), suppress(sqlite3.DatabaseError):  # readers report damaged files
            check_version(db, path)


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables of a new segment, or migrate an older one, in one transaction; after an error close `db`."""
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
    if 0 < version < ONE_RELEVANCE:
        db.execute("UPDATE page SET reward = relevance, relevance = coalesce(probability, relevance)")
    if 0 < version < TYPED_REASONS:
        _convert_reasons(db)
    for statement in _schema().split(";"):
        db.execute(statement)  # a script would end the transaction
    db.execute("COMMIT")


def _convert_reasons(db: sqlite3.Connection) -> None:
    """Convert the reasons of all rows; rows count as unchanged, so that they are not uploaded again."""
    add_functions(db)
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'page'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    db.execute("UPDATE page SET reason_kind = legacy_kind(reason), reason = legacy_detail(reason) WHERE reason <> ''")
    for _, created in triggers:
        db.execute(created)


def read_as_newest(db: sqlite3.Connection, version: int) -> None:
    """Shadow the table of an older segment by a view with all columns; the file does not change."""
    if missing := _missing(version):
        values = {name: _default(kind) for name, kind in missing.items()}
        if version < ONE_RELEVANCE:
            values["reward"] = "relevance"
            values["relevance"] = "relevance" if version < 2 else "coalesce(probability, relevance)"
        if version < TYPED_REASONS:
            add_functions(db)
            values |= {"reason_kind": "legacy_kind(reason)", "reason": "legacy_detail(reason)"}
        kept = [row[1] for row in db.execute("PRAGMA main.table_info(page)") if row[1] not in values]
        columns = ", ".join([*kept, *(f"{value} AS {name}" for name, value in values.items())])
        db.execute(f"CREATE TEMP VIEW page AS SELECT {columns} FROM main.page")  # noqa: S608 - our own names


def _default(kind: str) -> str:
    return "NULL" if "NOT NULL" not in kind else "''"


def _missing(version: int) -> dict[str, str]:
    return {name: kind for added, columns in _ADDED.items() if added > version for name, kind in columns.items()}


def _schema() -> str:
    text = (resources.files("thresher.storage") / "sql" / "schema.sql").read_text(encoding="utf-8")
    return "\n".join(line.partition("--")[0] for line in text.splitlines())
