"""Streams: the changes of a segment of the page store, in their order, as Parquet.

A segment of the page store records its own changes by triggers: every inserted and every revised row gets a new
version. A *stream* is the sequence of these changes. It has a random name, so a segment that is created again after a
disk was lost is another stream, though its worker has the same name. The rows of a stream from one version to another
are a Parquet file with zstd; text, markup and links stay in the zstd frames that the page store keeps them in.

A reader that applies the files of a stream in their order, each row replacing the row of the same id, has a copy of the
segment: rows that were revised come again in a later file.

A segment also records the last entries of the manifest that it wrote, each before it is written. So a segment that was
restored from a backup, a copy of a folder that others continued, and a collection that lost its last entries are
noticed: the last entry of the stream is not the recorded one. Such a segment begins a new stream, with all of its rows;
of several rows of one fetch readers use one.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from thresher.collection.manifest import ManifestEntry
from thresher.errors import REPAIR, DamagedFile
from thresher.reasons.legacy import read_shared, shared, stored_in
from thresher.records import Outcome
from thresher.sqlite_files import open_to_read
from thresher.storage.migrations import SCHEMA_VERSION, check_version

if TYPE_CHECKING:
    import pyarrow as pa

_CHANGES = resources.files("thresher.collection") / "sql" / "changes.sql"
_FRAMES = ("text", "main", "markup", "links", "terms")
"""Columns that are compressed already."""
_ADDED = ("reason_kind", "reason_detail")
"""Columns that versions up to 0.2.0 do not write; they read the reason as a text."""
_REASON = ("reason", *_ADDED)
_SIGNALS = "signals"
"""A column that versions before format 9 do not write."""
# Rows that were deleted do not wait; a limit of -1 is none.
_WAITING = "SELECT count(*) FROM (SELECT 1 FROM change JOIN page USING (id) WHERE version > ? LIMIT ?)"
_ROWS = (
    "SELECT change.version, page.* FROM change JOIN page USING (id) WHERE change.version > ? "
    "ORDER BY change.version LIMIT ?"
)
_SETTLED = "SELECT fingerprint FROM change JOIN page USING (id) WHERE change.version <= ? AND outcome <> ?"
_RECORD_TABLE = (
    "CREATE TABLE IF NOT EXISTS uploaded (number INTEGER PRIMARY KEY, sha256 TEXT NOT NULL, version INTEGER NOT NULL, "
    "is_written INTEGER NOT NULL DEFAULT 0)"
)
_RECORDS = "SELECT number, sha256, version, is_written FROM uploaded ORDER BY number DESC"
_LATER_NAME = re.compile(r".*\.r(\d{4})\.[0-9a-f]{8}").fullmatch


class LastEntries(Protocol):
    """Returns the last entry of a stream; None when it has none."""

    def last(self, stream: str) -> ManifestEntry | None: ...


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Changed rows of a stream, in the order of their versions; `names` are their columns, the version first."""

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def last_version(self) -> int:
        return int(self.rows[-1][0])

    def column(self, name: str) -> list[Any]:
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    @property
    def settled(self) -> list[int]:
        """The fingerprints of the rows that settle their URL."""
        pairs = zip(self.column("fingerprint"), self.column("outcome"), strict=True)
        return sorted({number for number, outcome in pairs if outcome != Outcome.RETRY})


class ChangeStream:
    """The changes of one segment; it must be closed.

    Args:
        path: The segment; its changes are recorded from now on, those before count as changed now.
    """

    def __init__(self, path: Path) -> None:
        self.worker = path.stem
        self.name = _recorded(path)
        self._path = path
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60, check_same_thread=False)

    def waiting(self, after: int, most: int = -1) -> int:
        """Return how many rows have changed after a version; with `most`, it counts no further."""
        return int(self._db.execute(_WAITING, [after, most]).fetchone()[0])

    def read(self, after: int, *, max_rows: int, max_bytes: int) -> ChangedRows:
        """Return the next changed rows after a version; at least one, if there is one."""
        found = self._db.execute(_ROWS, [after, max_rows])
        names = [column[0] for column in found.description]
        frames = [names.index(name) for name in _FRAMES]
        rows: list[Sequence[Any]] = []
        size = 0
        for row in found:
            size += sum(len(row[place] or b"") for place in frames)
            if rows and size > max_bytes:
                break
            rows.append(row)
        return ChangedRows(names, rows)

    def record(self, entry: ManifestEntry) -> None:
        """Record an entry that is written to the manifest next; only the one before it is kept too."""
        with _writing(self._path) as db:
            db.execute(_RECORD_TABLE)
            values = [entry.number, entry.sha256, entry.last_version]
            db.execute("INSERT OR REPLACE INTO uploaded (number, sha256, version) VALUES (?, ?, ?)", values)
            db.execute("DELETE FROM uploaded WHERE number < ?", [entry.number - 1])

    def record_written(self, entry: ManifestEntry) -> None:
        """Record that a recorded entry is in the manifest now."""
        with _writing(self._path) as db:
            db.execute("UPDATE uploaded SET is_written = 1 WHERE number = ?", [entry.number])

    def rename(self) -> None:
        """Begin another stream: all rows are new there."""
        name = _later_name(self._path, self.name)
        with _writing(self._path) as db:
            db.execute(_RECORD_TABLE)
            db.execute("DELETE FROM uploaded")
            db.execute("UPDATE stream SET name = ?", [name])
        self.name = name

    def close(self) -> None:
        self._db.close()


@contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a segment for one transaction."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as db:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite ends it itself when the disk is full
                db.execute("ROLLBACK")
            raise


@dataclass(frozen=True, slots=True)
class _Record:
    """An entry that a segment wrote, or was about to write."""

    number: int
    sha256: str
    version: int
    is_written: int


def _records(path: Path) -> list[_Record]:
    """Return the entries that a segment recorded, the last one first; at most two."""
    with closing(open_to_read(path)) as db:
        try:
            rows = db.execute(_RECORDS).fetchall()
        except sqlite3.OperationalError:
            return []
    return [_Record(*row) for row in rows]


def written_numbers(path: Path) -> list[int]:
    """Return the numbers of the last entries that a segment wrote."""
    return [each.number for each in _records(path) if each.is_written]


def upload_position(
    path: Path, stream: str, entries: LastEntries, flawed: Collection[str] = ()
) -> tuple[int, int] | None:
    """Return the number of the next entry of a segment's stream, and the version up to which its rows are uploaded.

    The last entry of the stream must be the one that the segment recorded last, or the one before it if the last one
    may not have been written. None when it is another one, or when entries are missing: then nothing is known to be
    uploaded.

    Args:
        flawed: The streams that lack entries.
    """
    if stream in flawed:
        return None
    recorded = _records(path)
    try:
        last = entries.last(stream) if stream else None
    except DamagedFile:
        return None
    if recorded and not recorded[0].is_written and (last is None or last.number < recorded[0].number):
        recorded = recorded[1:]
    if last is None:
        return None if recorded else (0, 0)
    if not recorded or (recorded[0].number, recorded[0].sha256) != (last.number, last.sha256):
        return None
    return last.number + 1, last.last_version


def has_diverged(path: Path, stream: str, entries: LastEntries) -> bool:
    """Return whether a stream goes on with entries that its segment did not write, as one of a copy or a backup."""
    try:
        last = entries.last(stream)
    except DamagedFile:
        return False
    return last is not None and last.number >= max(written_numbers(path), default=0)


def rows_not_confirmed(path: Path) -> int:
    """Return how many rows of a segment are not known to be uploaded, as far as the segment itself records it."""
    return rows_waiting(path, max((each.version for each in _records(path) if each.is_written), default=0))


def stream_name(path: Path) -> str:
    """Return the name of the stream of a segment; empty when its changes are not recorded."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        try:
            found = db.execute("SELECT name FROM stream").fetchone()
        except sqlite3.OperationalError:
            return ""
    return str(found[0]) if found else ""


def rows_waiting(path: Path, after: int) -> int:
    """Return how many rows of a segment have changed after a version; all rows where changes are not recorded yet."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        try:
            return int(db.execute(_WAITING, [after, -1]).fetchone()[0])
        except sqlite3.OperationalError:
            return int(db.execute("SELECT count(*) FROM page").fetchone()[0])


def settled_rows(path: Path, version: int) -> list[int]:
    """Return the fingerprints of the rows of a segment up to a version that settle their URL."""
    with closing(open_to_read(path)) as db:
        return [number for (number,) in db.execute(_SETTLED, [version, Outcome.RETRY])] if version else []


def _new_name(path: Path) -> str:
    return f"{_worker_part(path)}.{secrets.token_hex(4)}"


def _later_name(path: Path, before: str) -> str:
    """Return a name after the name before, so that of two copies of one row readers use that of the later stream."""
    found = _LATER_NAME(before)
    return f"{_worker_part(path)}.r{int(found[1]) + 1 if found else 1:04d}.{secrets.token_hex(4)}"


def _worker_part(path: Path) -> str:
    return re.sub("[^a-z0-9-]+", "-", path.stem.lower())[:60] or "pages"


def has_format(path: Path) -> bool:
    """Return whether a segment has its tables, in the format of this version: its writer creates or migrates them."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        return check_version(db, path) == SCHEMA_VERSION


def _recorded(path: Path) -> str:
    """Let a segment record its changes, unless it does; return the name of its stream."""
    if name := stream_name(path):
        return name
    with _writing(path) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'stream'").fetchone() is None:
            _create(db, _new_name(path))
    return stream_name(path)


def _create(db: sqlite3.Connection, name: str) -> None:
    text = "\n".join(line.partition("--")[0] for line in _CHANGES.read_text(encoding="utf-8").splitlines())
    for statement in _statements(text):
        db.execute(statement)  # a script would end the transaction
    db.execute("INSERT INTO stream VALUES (?)", [name])
    db.execute("INSERT INTO change (version, id) VALUES (?, -1)", [time.time_ns() // 1000])
    db.execute("INSERT INTO change (id) SELECT id FROM page ORDER BY id")
    db.execute("DELETE FROM change WHERE id = -1")  # the counter goes on from it


def _statements(text: str) -> list[str]:
    found, begun = [], ""
    for part in text.split(";"):
        begun += f"{part};"
        if sqlite3.complete_statement(begun):
            found.append(begun)
            begun = ""
    return [statement for statement in found if statement.strip(" \n;")]


def to_parquet(changed: ChangedRows) -> bytes:
    """Encode rows."""
    import pyarrow as pa  # here: it takes long to import
    from pyarrow import parquet

    kinds = _kinds()
    reasons = map(stored_in, changed.column("reason_kind"), changed.column("reason"))
    written = [shared(reason) for reason in reasons]
    values = {name: changed.column(name) for name in changed.names} | {
        name: [each[name] for each in written] for name in _REASON
    }
    columns = {name: pa.array(values[name], type=kinds[name]) for name in kinds}
    sink = pa.BufferOutputStream()
    compression = {name: "none" if name in _FRAMES else "zstd" for name in kinds}
    plain = [name for name in kinds if name not in _FRAMES]
    parquet.write_table(pa.table(columns), sink, compression=compression, use_dictionary=plain, write_statistics=False)
    return bytes(sink.getvalue())


def from_parquet(content: bytes) -> ChangedRows:
    """Decode rows; columns that a newer version added are left out.

    Raises:
        DamagedFile: They cannot be decoded, or a column is missing.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(pa.BufferReader(content)).read(columns=list(_kinds()))
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"a segment of the collection cannot be read: {error}; {REPAIR}") from error
    if missing := _kinds().keys() - {*table.column_names, *_ADDED, _SIGNALS}:
        raise DamagedFile(f"a segment of the collection has no column {min(missing)!r}; {REPAIR}")
    columns = {name: table[name].to_pylist() for name in table.column_names}
    texts, none = columns.pop("reason"), [None] * table.num_rows
    columns.setdefault(_SIGNALS, [""] * table.num_rows)
    known = [columns.pop(name, none) for name in _ADDED]
    reasons = [read_shared(*each) for each in zip(texts, *known, strict=True)]
    columns |= {"reason_kind": [each.kind.value for each in reasons], "reason": [each.detail for each in reasons]}
    return ChangedRows(list(columns), list(zip(*columns.values(), strict=True)))


def _kinds() -> dict[str, pa.DataType]:
    """Return the columns of a file with their types: the version, and the columns of the page store."""
    import pyarrow as pa

    numbers = ("version", "id", "fingerprint", "status", "page", "parent", "depth", "relevant", "text_hash")
    whole = dict.fromkeys((*numbers, "duplicate_of", "bytes"), pa.int64())
    fractions = dict.fromkeys(("score", "relevance", "reward", "fetched_at", "elapsed_seconds"), pa.float64())
    texts = ("url", "outcome", "reason", "title", "language", "parts", "etag", "last_modified", "topics", "blocked")
    strings = dict.fromkeys((*texts, "opt_outs", *_ADDED, _SIGNALS), pa.string())
    return {**whole, **fractions, **strings, **dict.fromkeys(_FRAMES, pa.binary())}
