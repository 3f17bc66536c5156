"""The manifest of a collection: which objects it has, and what is in them.

    segments/<sha256>.parquet               rows of a stream, see `streams`
    files/<sha256>                          a WARC file, its index, labels, model state, or a file of the definition
    manifest/<stream>/<number>.json         an entry: one object, and what is in it
    merged/<stream>/<number>.jsonl.zst      all entries of a stream up to a number, in one object
    crawl.json                              the id of the crawl that the collection belongs to

All objects are created once and never replaced, by a conditional put. An object is written before its entry, so an
entry always leads to a complete object; a crash in between leaves an object without an entry, which does no harm. The
entries of a stream are numbered without gaps. A stream has one writer; if two machines ever use one (a copied folder),
the second finds that its number is taken by another object, and begins another stream.

An entry or object that is missing or damaged is left out by readers, who report it. When it is found nowhere, an entry
of kind ``lost`` gives it up: it names the key of the entry that is not read any more.

Readers keep the entries that they have read in a local file, and list only the later ones: a listing costs one request
per stream. A reader with many entries to read takes the merged ones first. Entries never change, so a merged object has
the same content for every writer, and needs no agreement with the writer of the stream or with others that merge.
Entries are merged whenever their number has doubled, so all merged objects of a stream have at most twice its entries.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import re
import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from thresher.compression import zstd
from thresher.errors import REPAIR, ConfigError, DamagedFile, ObjectMissing, StoreError
from thresher.locale.translation import _
from thresher.objects.base import Objects

logger = logging.getLogger(__name__)

FORMAT_VERSION = 2
"""Form 1 has no revisions, and gives up no entries."""
PAGES, FILE, LOST = "pages", "file", "lost"
MANIFEST_CACHE = "manifest.sqlite"
"""The file of a folder's `ManifestReader`."""
MERGE_ENTRIES = 64
"""Fewer new entries are neither merged nor looked for in merged objects."""
MAX_MERGED_BYTES = 1 << 30
MANIFEST, MERGED = "manifest", "merged"
"""The folders of entries, and of merged ones."""
READS_AT_ONCE = 16
LARGE_BYTES = 32 << 20
"""Larger objects are read by way of a file."""
_CRAWL = "crawl.json"
_STREAM = re.compile(r"[a-z0-9][a-z0-9.-]{0,90}").fullmatch
_SHA = re.compile(r"[0-9a-f]{64}").fullmatch
_MERGED_NUMBER = re.compile(r".*/(\d{8})\.jsonl\.zst").fullmatch
_ENTRY_KEY = re.compile(r"manifest/([a-z0-9][a-z0-9.-]{0,90})/(\d{8})\.json").fullmatch
_CACHE_FORM = 3
_TABLE = (
    "CREATE TABLE entry (stream TEXT, number INTEGER, kind TEXT, rows INTEGER, name TEXT, content BLOB, "
    "PRIMARY KEY (stream, number)) WITHOUT ROWID"
)
_KEPT = (
    "FROM entry WHERE kind = ? AND printf('manifest/%s/%08d.json', stream, number) NOT IN "
    "(SELECT name FROM entry WHERE kind = 'lost')"
)
_TOTALS = f"SELECT count(*), coalesce(sum(rows), 0) {_KEPT}"


class StreamTaken(StoreError):
    """Another machine writes entries of the same stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """One object of a collection.

    Args:
        kind: ``pages`` for rows of a stream, ``file`` for a file, ``lost`` for an entry that is given up.
        name: Of a file, its path in the crawl's folder; of rows, the worker that stored them; of an entry that is given
            up, its key.
        sha256: Of the object; also its name.
        size: Its bytes.
        rows: Rows in it.
        last_version: The version of the last row.
        settled: Packed fingerprints of the URLs that its rows settle; see `fingerprints`.
        written_at: When, in seconds since the epoch.
        revision: Of a file, one more than that of its last version that the writer knew; 0 in entries of form 1.
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
    revision: int = 0

    @property
    def key(self) -> str:
        """The key of the object."""
        return f"segments/{self.sha256}.parquet" if self.kind == PAGES else f"files/{self.sha256}"

    def fingerprints(self) -> tuple[int, ...]:
        """Return the fingerprints of the URLs that the rows settle, sorted."""
        content = base64.b64decode(self.settled)
        return struct.unpack(f"<{len(content) // 8}q", content)

    def to_json(self) -> bytes:
        return json.dumps({"form": FORMAT_VERSION, **asdict(self)}).encode()

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
            if form > FORMAT_VERSION:
                raise StoreError(
                    f"the collection has form {form}, this Thresher reads up to {FORMAT_VERSION}; use a newer one"
                )
            entry = cls(**fields)
            entry.fingerprints()
        except (ValueError, TypeError, KeyError, AttributeError, struct.error) as error:
            raise DamagedFile(f"an entry of the manifest cannot be read: {error}; {REPAIR}") from error
        numbers = (entry.number, entry.size, entry.rows, entry.last_version, entry.revision)
        is_right = all(type(number) is int for number in numbers) and isinstance(entry.name, str)
        if not (is_right and _STREAM(entry.stream) and _SHA(entry.sha256) and entry.kind in (PAGES, FILE, LOST)):
            raise DamagedFile(f"an entry of the manifest names no stream or object: {entry.stream[:40]!r}; {REPAIR}")
        return entry

    @classmethod
    def from_object(cls, key: str, content: bytes) -> Self:
        """Decode an entry that was read by its key.

        Raises:
            DamagedFile: It cannot be decoded, or is another entry.
            StoreError: A newer Thresher wrote it.
        """
        entry = cls.from_json(content)
        if entry_key(entry.stream, entry.number) != key:
            raise DamagedFile(f"{key} is another entry of the manifest; {REPAIR}")
        return entry


def packed_fingerprints(numbers: Sequence[int]) -> str:
    """Encode fingerprints for an entry: eight bytes each."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}q", *sorted(numbers))).decode("ascii")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of an object, by which it is named."""
    return hashlib.sha256(content).hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def crawl_of(objects: Objects) -> str:
    """Return the id of the crawl that a collection belongs to; empty when it has none yet.

    Raises:
        DamagedFile: It cannot be read.
    """
    if objects.size(_CRAWL) is None:  # also where the folder of the collection does not exist yet
        return ""
    try:
        return str(json.loads(objects.get(_CRAWL))["id"])
    except (ValueError, TypeError, KeyError) as error:
        raise DamagedFile(f"{_CRAWL} of {objects.url} cannot be read: {error}; delete it") from error


def claim(objects: Objects, crawl_id: str) -> None:
    """Check that a collection belongs to a crawl; one without a crawl belongs to it from now on.

    Raises:
        ConfigError: It belongs to another crawl, or the storage cannot create objects without replacing others.
    """
    content = json.dumps({"id": crawl_id}).encode()
    owner = crawl_of(objects)
    if not owner:
        objects.put_new(_CRAWL, content)
        owner = crawl_of(objects)
    if owner != crawl_id:
        raise ConfigError(
            f"{objects.url} is the collection of another crawl (its id is {owner}, that of this crawl {crawl_id}); "
            "nothing is uploaded. Name another collection"
        )
    if objects.put_new(_CRAWL, content):  # the same content, so nothing is lost
        raise ConfigError(
            f"{objects.url} replaces objects that exist, though it is asked not to (If-None-Match: *), so machines "
            "could delete each other's pages; nothing is uploaded. Use a storage with conditional writes"
        )


def has_content(objects: Objects, entry: ManifestEntry) -> bool:
    """Read the object of an entry, a large one by way of a file, and return whether it is the one that was written."""
    try:
        if entry.size <= LARGE_BYTES:
            return digest_of(objects.get(entry.key)) == entry.sha256
        with TemporaryDirectory(prefix="thresher-object-") as folder:
            path = Path(folder) / "object"
            objects.download(entry.key, path)
            return file_digest(path) == entry.sha256
    except ObjectMissing:
        return False


class ManifestWriter:
    """Adds entries to the manifest; one stream after another, each by one process."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    def last(self, stream: str) -> ManifestEntry | None:
        """Return the last entry of a stream, by which its writer continues; None when it has none."""
        merged = _last_merged(self._objects, stream)
        after = entry_key(stream, merged - 1) if merged > 0 else ""  # the last merged one may be the last of all
        keys = list(self._objects.sizes(f"{MANIFEST}/{stream}", after=after))
        return ManifestEntry.from_object(keys[-1], self._objects.get(keys[-1])) if keys else None

    def add(self, entry: ManifestEntry) -> None:
        """Add an entry; its object must exist. Adding the same entry again does nothing.

        Raises:
            StreamTaken: There is another entry of this number.
        """
        key = entry_key(entry.stream, entry.number)
        if not self._objects.put_new(key, entry.to_json()):
            try:
                is_same = ManifestEntry.from_object(key, self._objects.get(key)).sha256 == entry.sha256
            except DamagedFile:
                is_same = False
            if not is_same:
                raise StreamTaken(f"{key} was written by another machine: is this folder a copy of another one?")

    def merge(self, stream: str) -> int:
        """Merge the entries of a stream into one object, if enough are new; return their number, or 0.

        Any process may do this at any time.

        Raises:
            DamagedFile: An entry cannot be read.
        """
        last = _last_merged(self._objects, stream)
        keys = list(self._objects.sizes(f"{MANIFEST}/{stream}", after=entry_key(stream, last) if last >= 0 else ""))
        if len(keys) < max(MERGE_ENTRIES, last + 1):
            return 0
        merged = merged_entries(self._objects, stream, last) if last >= 0 else []
        found = [*merged, *(content or b"" for content in contents(self._objects, keys))]
        numbers = [ManifestEntry.from_json(content).number for content in found]
        if numbers != list(range(len(numbers))):
            raise DamagedFile(f"the manifest of {stream} has a gap, and is not merged")
        packed = zstd.FrameCompressor(level=3).compress(b"\n".join(found))
        self._objects.put_new(_merged_key(stream, numbers[-1]), packed)
        return len(numbers)


def entry_key(stream: str, number: int) -> str:
    """Return the key of an entry."""
    return f"{MANIFEST}/{stream}/{number:08d}.json"


def _merged_key(stream: str, number: int) -> str:
    return f"{MERGED}/{stream}/{number:08d}.jsonl.zst"


def _last_merged(objects: Objects, stream: str) -> int:
    """Return the number of the last entry that is merged; -1 when none is."""
    return max(map(merged_number, objects.sizes(f"{MERGED}/{stream}")), default=-1)


def merged_number(key: str) -> int:
    """Return the number of the last entry of a merged object; -1 when the key is none of one."""
    found = _MERGED_NUMBER(key)
    return int(found[1]) if found else -1


def merged_entries(objects: Objects, stream: str, last: int) -> list[bytes]:
    """Return the entries up to a number from their merged object.

    Raises:
        DamagedFile: It does not have exactly these entries.
    """
    packed = objects.get(_merged_key(stream, last))
    try:
        content = zstd.decompress(packed, max_bytes=MAX_MERGED_BYTES)
    except zstd.ZstdError as error:
        raise DamagedFile(f"merged entries of {stream} cannot be read: {error}") from error
    found = content.split(b"\n")
    entries = [ManifestEntry.from_json(each) for each in found]
    if [(entry.stream, entry.number) for entry in entries] != [(stream, number) for number in range(last + 1)]:
        raise DamagedFile(f"merged entries of {stream} are not those up to {last}")
    return found


def contents(objects: Objects, keys: Iterable[str]) -> list[bytes | None]:
    """Read some objects; None for those that do not exist."""

    def read(key: str) -> bytes | None:
        try:
            return objects.get(key)
        except ObjectMissing:
            return None

    with ThreadPoolExecutor(READS_AT_ONCE) as pool:
        return list(pool.map(read, keys))


def _found_merged(objects: Objects, stream: str) -> list[bytes]:
    """Return the merged entries of a stream; none when there are none, or they are damaged."""
    last = _last_merged(objects, stream)
    try:
        return merged_entries(objects, stream, last) if last >= 0 else []
    except DamagedFile as error:
        logger.warning("the entries are read one by one: %s", error)
        return []


def is_newer(entry: ManifestEntry, known: ManifestEntry) -> bool:
    """Return whether a version of a file is newer than one with a lower number or of another stream.

    Clocks may be wrong: they decide only between machines that did not know each other's version.
    """
    if entry.revision != known.revision:
        return entry.revision > known.revision
    return entry.stream == known.stream or entry.written_at >= known.written_at


class ManifestReader:
    """All entries of a collection, by way of a local file.

    Entries that are missing or damaged are left out, and read again by the next update.

    Args:
        cache: A SQLite file; entries never change, so it is never outdated, only incomplete.

    Attributes:
        missing: The keys of the entries that the last update did not find, though later ones of their streams exist.
        damaged: The keys of those that it could not read.
    """

    def __init__(self, cache: Path) -> None:
        self.missing: list[str] = []
        self.damaged: list[str] = []
        cache.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(cache, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._prepare()

    def _prepare(self) -> None:
        """Create the table; that of another version is read again from the collection."""
        query = "PRAGMA user_version"
        if self._db.execute(query).fetchone()[0] == _CACHE_FORM:
            return
        self._db.execute("BEGIN IMMEDIATE")
        if self._db.execute(query).fetchone()[0] != _CACHE_FORM:  # another process may have created it
            self._db.execute("DROP TABLE IF EXISTS entry")
            self._db.execute(_TABLE)
            self._db.execute(f"PRAGMA user_version = {_CACHE_FORM}")
        self._db.execute("COMMIT")

    def update(self, objects: Objects) -> int:
        """Read the entries that are new since the last update; return their number.

        Raises:
            StoreError: A newer Thresher wrote one.
        """
        merged: list[bytes] = []
        keys: list[str] = []
        given_up = self.given_up()
        for stream in filter(_STREAM, objects.folders(MANIFEST)):
            new = self._unknown(objects, stream, given_up)
            if len(new) >= MERGE_ENTRIES and (found := _found_merged(objects, stream)):
                merged += found
                new = [key for key in new if key > entry_key(stream, len(found) - 1)]
            keys += new
        read = dict(zip(keys, contents(objects, keys), strict=True))
        entries = [(ManifestEntry.from_json(content), content) for content in merged]
        self.damaged = []
        for key, content in read.items():
            try:
                entries += [(ManifestEntry.from_object(key, content), content)] if content is not None else []
            except DamagedFile:
                self.damaged.append(key)
        added = self._insert(entries)
        given_up = self.given_up()
        self.damaged = [key for key in self.damaged if key not in given_up]
        self.missing = [key for key, content in read.items() if content is None and key not in given_up]
        return added

    def _insert(self, entries: Iterable[tuple[ManifestEntry, bytes]]) -> int:
        rows = [(each.stream, each.number, each.kind, each.rows, each.name, content) for each, content in entries]
        self._db.execute("BEGIN IMMEDIATE")
        before = self._db.total_changes
        self._db.executemany("INSERT OR IGNORE INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._db.execute("COMMIT")
        return self._db.total_changes - before

    def _unknown(self, objects: Objects, stream: str, given_up: set[str]) -> list[str]:
        """Return the keys of the entries of a stream that are not known: later ones, and those in gaps."""
        numbers = {number for (number,) in self._db.execute("SELECT number FROM entry WHERE stream = ?", [stream])}
        numbers |= {int(key[-13:-5]) for key in given_up if key.startswith(f"{MANIFEST}/{stream}/")}
        first = next(number for number in count() if number not in numbers)
        listed = objects.sizes(f"{MANIFEST}/{stream}", after=entry_key(stream, first - 1) if first else "")
        last = max([*numbers, *(int(found[2]) for key in listed if (found := _ENTRY_KEY(key)))], default=-1)
        return [entry_key(stream, number) for number in range(first, last + 1) if number not in numbers]

    def next_number(self, stream: str) -> int:
        """Return the number after the last entry of a stream that is known."""
        query = "SELECT coalesce(max(number), -1) + 1 FROM entry WHERE stream = ?"
        return int(self._db.execute(query, [stream]).fetchone()[0])

    def given_up(self) -> set[str]:
        """Return the keys of the entries that are given up as lost."""
        return {name for (name,) in self._db.execute("SELECT name FROM entry WHERE kind = ?", [LOST])}

    def flawed_streams(self) -> set[str]:
        """Return the streams with entries that are missing, damaged or given up."""
        keys = {*self.missing, *self.damaged, *self.given_up()}
        return {found[1] for key in keys if (found := _ENTRY_KEY(key))}

    @property
    def flaws(self) -> str:
        """What is missing or damaged, in words; empty when nothing is."""
        number = len(self.missing) + len(self.damaged)
        if not number:
            return ""
        return _("missing or damaged entries of the manifest: {number:,}; {repair}", number=number, repair=REPAIR)

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM entry").fetchone()[0])

    def totals(self) -> tuple[int, int]:
        """Return the number of segments with pages, and of their rows."""
        segments, rows = self._db.execute(_TOTALS, [PAGES]).fetchone()
        return int(segments), int(rows)

    def numbers(self) -> dict[str, list[int]]:
        """Return the numbers of the entries with pages, by stream."""
        found: dict[str, list[int]] = {}
        for stream, number in self._db.execute(f"SELECT stream, number {_KEPT}", [PAGES]):
            found.setdefault(stream, []).append(number)
        return found

    def entry(self, stream: str, number: int) -> ManifestEntry:
        query = "SELECT content FROM entry WHERE stream = ? AND number = ?"
        return ManifestEntry.from_json(self._db.execute(query, [stream, number]).fetchone()[0])

    def contents(self) -> dict[str, bytes]:
        """Return the known entries as they were read, by their keys, without those that are given up."""
        given_up = self.given_up()
        rows = self._db.execute("SELECT stream, number, content FROM entry ORDER BY stream, number")
        found = {entry_key(stream, number): bytes(content) for stream, number, content in rows}
        return {key: content for key, content in found.items() if key not in given_up}

    def replace(self, entry: ManifestEntry, content: bytes) -> None:
        """Read an entry anew that was deleted and written again."""
        self._db.execute("DELETE FROM entry WHERE stream = ? AND number = ?", [entry.stream, entry.number])
        self._insert([(entry, content)])

    def of_kind(self, kind: str) -> Iterator[ManifestEntry]:
        """Yield the entries of a kind that are not given up, those of a stream in their order."""
        query = f"SELECT content {_KEPT} ORDER BY stream, number"
        for (content,) in self._db.execute(query, [kind]):
            yield ManifestEntry.from_json(content)

    def __iter__(self) -> Iterator[ManifestEntry]:
        """Yield the known entries, those of a stream in their order."""
        for (content,) in self._db.execute("SELECT content FROM entry ORDER BY stream, number"):
            yield ManifestEntry.from_json(content)

    def files(self) -> dict[str, ManifestEntry]:
        """Return the files of the collection by name; of several versions the newest."""
        found: dict[str, ManifestEntry] = {}
        for entry in self.of_kind(FILE):
            if entry.name not in found or is_newer(entry, found[entry.name]):
                found[entry.name] = entry
        return found

    def fingerprints(self) -> set[int]:
        """Return the fingerprints of all URLs that are uploaded."""
        return {number for entry in self.of_kind(PAGES) for number in entry.fingerprints()}

    def close(self) -> None:
        self._db.close()
