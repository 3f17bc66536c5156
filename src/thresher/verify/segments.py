"""The segments of the page store: whether each is whole, and what can be saved of one that is not.

A crash leaves a segment whole: that is what SQLite's log is for. A failing disk or a careless copy may not. Then every
row that can still be read moves into a new segment, and the damaged file stays beside it under another name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from thresher.verify.findings import Finding, State, Tally

DAMAGED = ".damaged"
_SCHEMA = resources.files("thresher.archive") / "sql" / "schema.sql"
_PLACES_AT_ONCE = 256


def segment_paths(folder: Path) -> list[Path]:
    """Return the segments of a page store."""
    return sorted(folder.glob("*.db"))


def flaw_of(path: Path) -> str:
    """Say what is wrong with a SQLite file; empty when it is whole."""
    try:
        with closing(_opened(path)) as db:
            [first] = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if first == "ok" else str(first)


def look_at_segments(folder: Path, *, repair: bool) -> list[Finding]:
    """Look whether all segments are whole, and save what can be saved of those that are not."""
    damaged = Tally()
    saved = 0
    for path in segment_paths(folder):
        if flaw := flaw_of(path):
            damaged.take(f"{path.name}: {flaw}")
            saved += save_rows(path) if repair else 0
    if not repair:
        return damaged.found("pages", State.WRONG, "segments are damaged")
    return damaged.found("pages", State.MENDED, f"segments were damaged; {saved:,} rows were saved from them")


def save_rows(path: Path) -> int:
    """Move what can be read of a segment into a new one of the same name; return how many rows that was."""
    beside = path.with_name(path.name + ".saving")
    beside.unlink(missing_ok=True)
    with closing(sqlite3.connect(beside, isolation_level=None)) as new:
        new.executescript(_SCHEMA.read_text(encoding="utf-8"))
        known = {row[1] for row in new.execute("PRAGMA table_info(page)")}
        number = 0
        new.execute("BEGIN")
        for row in _readable_rows(path):
            number += _insert(new, {name: value for name, value in row.items() if name in known})
        new.execute("COMMIT")
    _move_away(path)
    beside.replace(path)
    return number


def _insert(db: sqlite3.Connection, row: dict[str, Any]) -> int:
    places = ", ".join(f":{name}" for name in row)
    try:
        db.execute(f"INSERT INTO page ({', '.join(row)}) VALUES ({places})", row)  # noqa: S608 - names of our columns
    except sqlite3.DatabaseError:  # a row whose values are no longer what the columns take
        return 0
    return 1


def _move_away(path: Path) -> None:
    """Set a damaged segment aside with its log, which may hold what the file itself does not."""
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.replace(part.with_name(path.name + DAMAGED + ending))


@dataclass(frozen=True)
class _Reach:
    """From which to which row a segment may have rows."""

    first: int
    last: int


def _readable_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield what can be read, block by block; where a block is broken, row by row."""
    try:
        db = _opened(path)
    except sqlite3.DatabaseError:
        return
    with closing(db):
        db.row_factory = sqlite3.Row
        reach = _reach(db)
        for start in range(reach.first, reach.last + 1, _PLACES_AT_ONCE):
            end = min(start + _PLACES_AT_ONCE, reach.last + 1)
            rows = _read(db, start, end)
            if rows is None:
                rows = [row for place in range(start, end) for row in _read(db, place, place + 1) or ()]
            yield from rows


def _reach(db: sqlite3.Connection) -> _Reach:
    try:
        first, last = db.execute("SELECT min(id), max(id) FROM page").fetchone()
    except sqlite3.DatabaseError:
        return _Reach(1, 0)
    return _Reach(first or 1, last or 0)


def _read(db: sqlite3.Connection, start: int, end: int) -> list[dict[str, Any]] | None:
    try:
        return [dict(row) for row in db.execute("SELECT * FROM page WHERE id >= ? AND id < ?", [start, end])]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60, isolation_level=None)
