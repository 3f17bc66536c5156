"""The manifest of a collection: which objects it has, and what is in them.

    segments/<sha256>.parquet               rows of a stream, see `streams`
    files/<sha256>                          a WARC file, its index, labels, model state, or a file of the definition
    manifest/<stream>/<number>.json         an entry: one object, and what is in it

All objects are created once and never replaced, by a conditional put. An object is written before its entry, so an
entry always leads to a complete object; a crash in between leaves an object without an entry, which does no harm. The
entries of a stream are numbered without gaps. A stream has one writer; if two machines ever use one (a copied folder),
the second finds that its number is taken by another object, and stops.

Readers keep the entries that they have read in a local file, and list only the later ones: a listing costs one request
per stream.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from thresher.errors import DamagedFile, StoreError
from thresher.objects.base import Objects

FORM = 1
PAGES, FILE = "pages", "file"
MANIFEST_CACHE = "manifest.sqlite"
"""The file of a folder's `ManifestReader`."""
_ROOT = "manifest"
_READS_AT_ONCE = 16
_STREAM = re.compile(r"[a-z0-9][a-z0-9.-]{0,90}").fullmatch
_SHA = re.compile(r"[0-9a-f]{64}").fullmatch
_TABLE = (
    "CREATE TABLE IF NOT EXISTS entry (stream TEXT, number INTEGER, content BLOB, PRIMARY KEY (stream, number)) "
    "WITHOUT ROWID"
)


class StreamTaken(StoreError):
    """Another machine writes entries of the same stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """One object of a collection.

    Args:
        kind: ``pages`` for rows of a stream, ``file`` for a file.
        name: Of a file, its path in the crawl's folder; of rows, the worker that stored them.
        sha256: Of the object; also its name.
        size: Its bytes.
        rows: Rows in it.
        last_version: The version of the last row.
        settled: Packed fingerprints of the URLs that its rows settle; see `fingerprints`.
        written_at: When, in seconds since the epoch.
    """

    stream: str
    number: int
    kind: str
    name: str
    sha256: str
    size: int
    written_at: float
    rows: int = 0
    last_version: int = 0
    settled: str = ""

    @property
    def key(self) -> str:
        """The key of the object."""
        return f"segments/{self.sha256}.parquet" if self.kind == PAGES else f"files/{self.sha256}"

    def fingerprints(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the fingerprints of the URLs that the rows settle, sorted."""
        return np.frombuffer(base64.b64decode(self.settled), dtype="<i8")

    def to_json(self) -> bytes:
        return json.dumps({"form": FORM, **asdict(self)}).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Self:
        """Decode an entry; it is untrusted data.

        Raises:
            DamagedFile: It cannot be decoded.
            StoreError: A newer Thresher wrote it.
        """
        try:
            fields = json.loads(content)
            form = fields.pop("form")
            if form > FORM:
                raise StoreError(f"the collection has form {form}, this Thresher reads up to {FORM}; use a newer one")
            entry = cls(**fields)
            entry.fingerprints()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedFile(f"an entry of the manifest cannot be read: {error}") from error
        if not (_STREAM(entry.stream) and _SHA(entry.sha256) and entry.kind in (PAGES, FILE)):
            raise DamagedFile(f"an entry of the manifest names no stream or object: {entry.stream[:40]!r}")
        return entry


def packed_fingerprints(numbers: Sequence[int]) -> str:
    """Encode fingerprints for an entry: eight bytes each."""
    return base64.b64encode(np.array(sorted(numbers), dtype="<i8").tobytes()).decode("ascii")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of an object, by which it is named."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class ManifestWriter:
    """Adds entries to the manifest; one stream after another, each by one process."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def last(self, stream: str) -> ManifestEntry | None:
        """Return the last entry of a stream, by which its writer continues; None when it has none."""
        keys = list(self._objects.sizes(f"{_ROOT}/{stream}"))
        return ManifestEntry.from_json(self._objects.get(keys[-1])) if keys else None

    def add(self, entry: ManifestEntry) -> None:
        """Add an entry; its object must exist. Adding the same entry again does nothing.

        Raises:
            StreamTaken: There is another entry of this number.
        """
        key = f"{_ROOT}/{entry.stream}/{entry.number:08d}.json"
        if not self._objects.put_new(key, entry.to_json()):
            there = ManifestEntry.from_json(self._objects.get(key))
            if there.sha256 != entry.sha256:
                raise StreamTaken(f"{key} was written by another machine: is this folder a copy of another one?")


class ManifestReader:
    """All entries of a collection, by way of a local file.

    Args:
        cache: A SQLite file; entries never change, so it is never outdated, only incomplete.
    """

    def __init__(self, cache: Path) -> None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(cache, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(_TABLE)

    def update(self, objects: Objects) -> int:
        """Read the entries that are new since the last update; return their number."""
        new = [key for stream in objects.folders(_ROOT) for key in self._unknown(objects, stream)]
        with ThreadPoolExecutor(_READS_AT_ONCE) as pool:
            contents = list(pool.map(objects.get, new))
        entries = [ManifestEntry.from_json(content) for content in contents]
        rows = [(entry.stream, entry.number, content) for entry, content in zip(entries, contents, strict=True)]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")
        return len(new)

    def _unknown(self, objects: Objects, stream: str) -> list[str]:
        query = "SELECT max(number) FROM entry WHERE stream = ?"
        (number,) = self._db.execute(query, [stream]).fetchone()
        after = "" if number is None else f"{_ROOT}/{stream}/{number:08d}.json"
        return list(objects.sizes(f"{_ROOT}/{stream}", after=after)) if _STREAM(stream) else []

    def __iter__(self) -> Iterator[ManifestEntry]:
        """Yield the known entries, those of a stream in their order."""
        for (content,) in self._db.execute("SELECT content FROM entry ORDER BY stream, number"):
            yield ManifestEntry.from_json(content)

    def files(self) -> dict[str, ManifestEntry]:
        """Return the files of the collection by name; of several versions the newest."""
        found: dict[str, ManifestEntry] = {}
        for entry in self:
            if entry.kind == FILE and (entry.name not in found or entry.written_at >= found[entry.name].written_at):
                found[entry.name] = entry
        return found

    def fingerprints(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the fingerprints of all URLs that are uploaded, sorted and without repetition."""
        parts = [entry.fingerprints() for entry in self if entry.kind == PAGES]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)

    def close(self) -> None:
        self._db.close()
