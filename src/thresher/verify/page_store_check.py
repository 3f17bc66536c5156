"""Integrity of the segments of the page store, and recovery of rows from damaged ones.

A crash does not damage a segment: that is what SQLite's log is for. A failing disk or a careless copy may. Then every
row that can still be read is copied into a new segment, and the damaged file stays beside it under another name. A row
whose contents cannot be decoded or whose text does not have its hash, though the file is intact, is removed; its URL is
queued again afterwards. Terms that cannot be decoded are removed alone where the text is stored: judges then read it.
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
from thresher.judges.topics import check_vector
from thresher.monitoring.failures import pluralize
from thresher.pipeline.outcomes import content_hash
from thresher.records import Outcome
from thresher.sqlite_files import open_to_read
from thresher.storage.migrations import check_version, read_as_newest
from thresher.storage.page_store import unpacked_links, unpacked_text
from thresher.urls.canonical import fingerprint
from thresher.verify.findings import FindingState, FindingTally, VerifyFinding

DAMAGED = ".damaged"
_SCHEMA = resources.files("thresher.storage") / "sql" / "schema.sql"
_PLACES_AT_ONCE = 256
_MIN_ROW_BYTES = 64
_OUTCOMES = frozenset(Outcome)
_CONTENTS = "SELECT id, url, fingerprint, outcome, text_hash, text, main, markup, links, terms FROM page ORDER BY id"
_TEXT = 3
"""The place of the text after the URL."""
_DELETE = "DELETE FROM page WHERE id = ?"
_WITHOUT_TERMS = "UPDATE page SET terms = NULL WHERE id = ?"


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


def check_segments(folder: Path, *, repair: bool, own_terms: bool = True) -> list[VerifyFinding]:
    """Check all segments, and with `repair` recover the rows of damaged ones.

    Args:
        own_terms: Whether a judge of this package stored the terms; those of others cannot be checked.
    """
    damaged, rows = FindingTally(), _RowCheck(own_terms=own_terms)
    saved = 0
    for path in segment_paths(folder):
        if flaw := flaw_of(path):
            damaged.add(f"{path.name}: {flaw}")
            saved += save_rows(path) if repair else 0
        if repair or not flaw:
            rows.check(path, repair=repair)
    if not repair:
        return [
            *damaged.found("pages", FindingState.WRONG, "segment|segments is|are damaged"),
            *rows.spoiled.found("pages", FindingState.WRONG, "row|rows cannot be read"),
            *rows.unjudgeable.found("pages", FindingState.WRONG, "row|rows has|have terms that cannot be read"),
        ]
    where = f"{pluralize(saved, 'row')} saved; what was damaged is kept under names that end in {DAMAGED}"
    judged = "row|rows had terms that could not be read; judges read the text now"
    return [
        *damaged.found("pages", FindingState.REPAIRED, f"segment|segments was|were damaged; {where}"),
        *rows.spoiled.found("pages", FindingState.REPAIRED, "row|rows could not be read and was|were removed"),
        *rows.unjudgeable.found("pages", FindingState.REPAIRED, judged),
    ]


class _RowCheck:
    """Finds rows whose contents cannot be decoded, or whose URL or text does not match its hash."""

    def __init__(self, *, own_terms: bool) -> None:
        self._own_terms = own_terms
        self.spoiled, self.unjudgeable = FindingTally(), FindingTally()

    def check(self, path: Path, *, repair: bool) -> None:
        with closing(open_to_read(path)) as db:
            if check_version(db, path) == 0:  # it has no tables yet
                return
            read_as_newest(db, db.execute("PRAGMA user_version").fetchone()[0])
            db.text_factory = bytes
            repairs = [(words, row[0]) for row in db.execute(_CONTENTS) if (words := self._repair_of(*row[1:]))]
        if repairs and repair:
            with closing(sqlite3.connect(path, timeout=60)) as db, db:
                for statement, number in repairs:
                    db.execute(statement, [number])

    def _repair_of(self, url: Any, *contents: Any) -> str:
        """Return the statement that repairs a row; empty for one that can be read."""
        *others, terms = contents
        are_terms_readable = terms is None or not self._own_terms or _are_readable(terms)
        is_readable = _is_readable(url, *others)
        if is_readable and are_terms_readable:
            return ""
        has_text = bool(others[_TEXT])
        tally = self.unjudgeable if is_readable and has_text else self.spoiled
        tally.add(str(url, "utf-8", "replace") if isinstance(url, bytes) else str(url))
        return _WITHOUT_TERMS if is_readable and has_text else _DELETE


def _are_readable(terms: Any) -> bool:
    try:
        check_vector(terms)
    except (ValueError, TypeError, AttributeError):
        return False
    return True


def _is_readable(
    url: bytes, number: int, outcome: bytes, text_hash: int, text: Any, main: Any, markup: Any, links: Any
) -> bool:
    try:
        for packed in (main, markup):
            unpacked_text(packed)
        list(unpacked_links(links))
        is_right = number == fingerprint(url.decode("utf-8")) and outcome.decode() in _OUTCOMES
        if text and text_hash:  # the text of irrelevant pages is not stored
            return is_right and content_hash(unpacked_text(text)) == text_hash
        unpacked_text(text)
    except (DamagedFile, ValueError, TypeError, AttributeError):
        return False
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
        return _Reach(1, path.stat().st_size // _MIN_ROW_BYTES)
    return _Reach(first or 1, last or 0)


def _read(db: sqlite3.Connection, start: int, end: int) -> list[dict[str, Any]] | None:
    try:
        return [dict(row) for row in db.execute("SELECT * FROM page WHERE id >= ? AND id < ?", [start, end])]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None
