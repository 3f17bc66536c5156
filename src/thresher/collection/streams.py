"""Streams: the changes of a segment of the page store, in their order, as Parquet.

A segment of the page store records its own changes by triggers: every inserted and every revised row gets a new
version. A *stream* is the sequence of these changes. It has a random name, so a segment that is created again after a
disk was lost is another stream, though its worker has the same name. The rows of a stream from one version to another
are a Parquet file with zstd; text, markup and links stay in the zstd frames that the page store keeps them in.

A reader that applies the files of a stream in their order, each row replacing the row of the same id, has a copy of the
segment: rows that were revised come again in a later file.
"""

from __future__ import annotations

import re
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.errors import REPAIR, DamagedFile
from thresher.records import Outcome
from thresher.storage.migrations import SCHEMA_VERSION, check_version

if TYPE_CHECKING:
    import pyarrow as pa

_CHANGES = resources.files("thresher.collection") / "sql" / "changes.sql"
_FRAMES = ("text", "main", "markup", "links", "terms")
"""Columns that are compressed already."""
_WAITING = "SELECT count(*) FROM change WHERE version > ?"
_ROWS = (
    "SELECT change.version, page.* FROM change JOIN page USING (id) WHERE change.version > ? "
    "ORDER BY change.version LIMIT ?"
)


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
        self._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60, check_same_thread=False)

    def waiting(self, after: int) -> int:
        """Return how many rows have changed after a version."""
        return int(self._db.execute(_WAITING, [after]).fetchone()[0])

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

    def close(self) -> None:
        self._db.close()


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
            return int(db.execute(_WAITING, [after]).fetchone()[0])
        except sqlite3.OperationalError:
            return int(db.execute("SELECT count(*) FROM page").fetchone()[0])


def waiting_rows(paths: Sequence[Path], versions: Mapping[str, int]) -> list[int]:
    """Return of each segment how many rows are not uploaded, by the last uploaded version of each stream."""
    return [_rows_after(path, versions) for path in paths]


def _rows_after(path: Path, versions: Mapping[str, int]) -> int:
    with suppress(sqlite3.OperationalError):  # its tables do not exist yet
        return rows_waiting(path, versions.get(stream_name(path), 0))
    return 0


def rename_stream(path: Path) -> None:
    """Give a segment another stream: all of its rows are new there."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as db:
        db.execute("UPDATE stream SET name = ?", [_new_name(path)])


def _new_name(path: Path) -> str:
    return f"{re.sub('[^a-z0-9-]+', '-', path.stem.lower())[:60] or 'pages'}.{secrets.token_hex(4)}"


def has_format(path: Path) -> bool:
    """Return whether a segment has its tables, in the format of this version: its writer creates or migrates them."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)) as db:
        return check_version(db, path) == SCHEMA_VERSION


def _recorded(path: Path) -> str:
    """Let a segment record its changes, unless it does; return the name of its stream."""
    if name := stream_name(path):
        return name
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'stream'").fetchone() is None:
                _create(db, _new_name(path))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite ends it itself when the disk is full
                db.execute("ROLLBACK")
            raise
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
    columns = {name: pa.array(changed.column(name), type=kinds[name]) for name in kinds}
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
        table = parquet.read_table(pa.BufferReader(content), columns=list(_kinds()))
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"a segment of the collection cannot be read: {error}; {REPAIR}") from error
    if missing := _kinds().keys() - {*table.column_names}:
        raise DamagedFile(f"a segment of the collection has no column {min(missing)!r}; {REPAIR}")
    columns = [table[name].to_pylist() for name in table.column_names]
    return ChangedRows(table.column_names, list(zip(*columns, strict=True)))


def _kinds() -> dict[str, pa.DataType]:
    """Return the columns of a file with their types: the version, and the columns of the page store."""
    import pyarrow as pa

    numbers = ("version", "id", "fingerprint", "status", "page", "parent", "depth", "relevant", "text_hash")
    whole = dict.fromkeys((*numbers, "duplicate_of", "bytes"), pa.int64())
    fractions = dict.fromkeys(("score", "relevance", "reward", "fetched_at", "elapsed_seconds"), pa.float64())
    texts = ("url", "outcome", "reason", "title", "language", "parts", "etag", "last_modified", "topics", "blocked")
    strings = dict.fromkeys((*texts, "opt_outs"), pa.string())
    return {**whole, **fractions, **strings, **dict.fromkeys(_FRAMES, pa.binary())}
