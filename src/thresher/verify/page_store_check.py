"""Integrity of the segments of the page store, and recovery of rows from damaged ones.

A crash does not damage a segment: that is what SQLite's log is for. A failing disk or a careless copy may. Then every
row that can still be read is copied into a new segment, and the damaged file stays beside it under another name. A row
whose contents cannot be decoded or whose text does not have its hash, though the file is intact, is removed; its URL is
queued again afterwards.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from thresher.errors import DamagedFile
from thresher.pipeline.deduplication import content_hash
from thresher.records import Outcome
from thresher.sqlite_files import open_to_read
from thresher.storage.migrations import check_version, read_as_newest
from thresher.storage.page_store import unpacked_links, unpacked_text
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import FindingState, FindingTally, VerifyFinding

DAMAGED = ".damaged"
_SCHEMA = resources.files("thresher.storage") / "sql" / "schema.sql"
_PLACES_AT_ONCE = 256
_LEAST_ROW_BYTES = 64
_OUTCOMES = frozenset(Outcome)
_CONTENTS = "SELECT id, url, fingerprint, outcome, text_hash, text, main, markup, links FROM page ORDER BY id"


def segment_paths(folder: Path) -> list[Path]:
    """Return the segments of a page store."""
    return sorted(folder.glob("*.db"))


def flaw_of(path: Path) -> str:
    """Return what is wrong with a SQLite file; empty when it is intact."""
    try:
        with closing(open_to_read(path)) as db:
            [first] = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if first == "ok" else str(first)


def check_segments(folder: Path, *, repair: bool) -> list[VerifyFinding]:
    """Check all segments, and with `repair` recover the rows of damaged ones."""
    damaged, spoiled = FindingTally(), FindingTally()
    saved = 0
    for path in segment_paths(folder):
        if flaw := flaw_of(path):
            damaged.add(f"{path.name}: {flaw}")
            saved += save_rows(path) if repair else 0
        if repair or not flaw:
            _check_rows(path, spoiled, repair=repair)
    if not repair:
        return [
            *damaged.found("pages", FindingState.WRONG, "segments are damaged"),
            *spoiled.found("pages", FindingState.WRONG, "rows cannot be read"),
        ]
    where = f"{saved:,} rows were saved from them; the damaged files end in {DAMAGED}"
    return [
        *damaged.found("pages", FindingState.REPAIRED, f"segments were damaged; {where}"),
        *spoiled.found("pages", FindingState.REPAIRED, "rows could not be read and were removed"),
    ]


def _check_rows(path: Path, spoiled: FindingTally, *, repair: bool) -> None:
    """Find rows whose contents cannot be decoded, or whose URL or text does not match its hash."""
    with closing(open_to_read(path)) as db:
        if check_version(db, path) == 0:  # it has no tables yet
            return
        read_as_newest(db, db.execute("PRAGMA user_version").fetchone()[0])
        db.text_factory = bytes
        numbers = [row[0] for row in db.execute(_CONTENTS) if not _is_readable(*row[1:], spoiled=spoiled)]
    if numbers and repair:
        with closing(sqlite3.connect(path, timeout=60)) as db, db:
            db.executemany("DELETE FROM page WHERE id = ?", [[number] for number in numbers])


def _is_readable(
    url: bytes,
    number: int,
    outcome: bytes,
    text_hash: int,
    text: Any,
    main: Any,
    markup: Any,
    links: Any,
    *,
    spoiled: FindingTally,
) -> bool:
    try:
        for packed in (main, markup):
            unpacked_text(packed)
        list(unpacked_links(links))
        is_right = number == fingerprint(url.decode("utf-8")) and outcome.decode() in _OUTCOMES
        if text and text_hash:  # the text of irrelevant pages is not stored
            is_right = is_right and content_hash(unpacked_text(text)) == text_hash
        else:
            unpacked_text(text)
    except (DamagedFile, ValueError, TypeError, AttributeError):
        is_right = False
    if not is_right:
        spoiled.add(str(url, "utf-8", "replace") if isinstance(url, bytes) else str(url))
    return is_right


def save_rows(path: Path) -> int:
    """Copy the readable rows of a segment into a new one of the same name; return their number."""
    temporary = path.with_name(path.name + ".saving")
    temporary.unlink(missing_ok=True)
    with closing(sqlite3.connect(temporary, isolation_level=None)) as new:
        new.executescript(_SCHEMA.read_text(encoding="utf-8"))
        known = {row[1] for row in new.execute("PRAGMA table_info(page)")}
        number = 0
        new.execute("BEGIN")
        for row in _readable_rows(path):
            number += _insert(new, {name: value for name, value in row.items() if name in known})
        new.execute("COMMIT")
    _move_away(path)
    temporary.replace(path)
    return number


def _insert(db: sqlite3.Connection, row: dict[str, Any]) -> int:
    places = ", ".join(f":{name}" for name in row)
    try:
        db.execute(f"INSERT INTO page ({', '.join(row)}) VALUES ({places})", row)  # noqa: S608 - names of our columns
    except sqlite3.DatabaseError:  # a row whose values do not fit the columns
        return 0
    return 1


def _move_away(path: Path) -> None:
    """Rename a damaged segment and its log, which may hold rows that the file does not."""
    for ending in ("", "-wal", "-shm"):
        part = path.with_name(path.name + ending)
        if part.exists():
            part.replace(part.with_name(path.name + DAMAGED + ending))


@dataclass(frozen=True)
class _Reach:
    """The range of row ids of a segment."""

    first: int
    last: int


def _readable_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the readable rows, block by block; where a block is damaged, row by row."""
    try:
        db = open_to_read(path)
    except sqlite3.DatabaseError:
        return
    with closing(db):
        db.row_factory = sqlite3.Row
        with suppress(sqlite3.DatabaseError):
            read_as_newest(db, db.execute("PRAGMA user_version").fetchone()[0])
        reach = _reach(db, path)
        for start in range(reach.first, reach.last + 1, _PLACES_AT_ONCE):
            end = min(start + _PLACES_AT_ONCE, reach.last + 1)
            rows = _read(db, start, end)
            if rows is None:
                rows = [row for place in range(start, end) for row in _read(db, place, place + 1) or ()]
            yield from rows


def _reach(db: sqlite3.Connection, path: Path) -> _Reach:
    """Return the range of row ids; when the table cannot be read, as many as fit into the file."""
    try:
        first, last = db.execute("SELECT min(id), max(id) FROM page").fetchone()
    except sqlite3.DatabaseError:
        return _Reach(1, path.stat().st_size // _LEAST_ROW_BYTES)
    return _Reach(first or 1, last or 0)


def _read(db: sqlite3.Connection, start: int, end: int) -> list[dict[str, Any]] | None:
    try:
        return [dict(row) for row in db.execute("SELECT * FROM page WHERE id >= ? AND id < ?", [start, end])]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None
