"""Copies of the segments of other machines, so that every command reads all pages of a crawl.

A copy is a segment of the page store in the subfolder ``pages/collected``, with the row ids of the original; readers of
the page store open both. It is a cache: it can be deleted at any time, and is completed from the collection before a
command reads it. A segment file is applied in one transaction together with its number, so a killed update continues
where it was, and two commands may update the same copy at once.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.collection.manifest import MANIFEST_CACHE, ManifestEntry, ManifestReader, digest_of, file_digest
from thresher.collection.streams import ChangedRows, from_parquet, stream_name
from thresher.errors import REPAIR, DamagedFile, ObjectMissing, StoreError
from thresher.locale.translation import _
from thresher.objects.base import Objects
from thresher.search.index import SearchIndex
from thresher.search.search_segments import SearchSegment
from thresher.storage.migrations import prepare
from thresher.storage.page_store import COLLECTED

logger = logging.getLogger(__name__)

_APPLIED = "CREATE TABLE IF NOT EXISTS applied (number INTEGER PRIMARY KEY)"
SEARCH = "search/"
"""The prefix of the names of search segments."""
_DOWNLOADS = 4
"""Segments that are downloaded while another one is applied."""


@dataclass
class ReplicaUpdate:
    """What an update of the copies found.

    Args:
        entries: Entries of the manifest.
        rows: Rows that were copied.
        lost: Segments, and entries of the manifest, that are missing or damaged, by their keys.
    """

    entries: int = 0
    rows: int = 0
    lost: list[str] = field(default_factory=list)

    @property
    def flaws(self) -> str:
        """What is missing or damaged, in words; empty when nothing is."""
        if not self.lost:
            return ""
        return _(
            "{n:,} object of the collection missing or damaged, and left out; {repair}",
            "{n:,} objects of the collection missing or damaged, and left out; {repair}",
            n=len(self.lost),
            repair=REPAIR,
        )


class Replica:
    """The copies of a page store's other segments.

    Args:
        pages: The page store.
        folder: For the copies; by default a subfolder of the page store, so that they are not taken for its own.
    """

    def __init__(self, pages: Path, folder: Path | None = None) -> None:
        self._pages = pages
        self._folder = folder or pages / COLLECTED

    def update(self, objects: Objects, *, progress: Callable[[int], None] = lambda rows: None) -> ReplicaUpdate:
        """Copy what is new in the collection; `progress` is called with the number of rows so far.

        Raises:
            StoreUnreachable: The collection does not answer.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
            manifest.update(objects)
            found = ReplicaUpdate(entries=len(manifest), lost=[*manifest.missing, *manifest.damaged])
            own = {stream_name(path) for path in self._pages.glob("*.db")}
            with ThreadPoolExecutor(_DOWNLOADS) as pool:
                for stream, numbers in manifest.numbers().items():
                    if stream not in own and (new := self._new(manifest, stream, numbers)):
                        self._copy(objects, pool, new, found, progress)
        return found

    def _new(self, manifest: ManifestReader, stream: str, numbers: Iterable[int]) -> list[ManifestEntry]:
        """Return the entries of a stream that are to be applied."""
        applied = applied_numbers(self._folder / f"{stream}.db")
        return [manifest.entry(stream, number) for number in numbers if number not in applied]

    def _copy(
        self,
        objects: Objects,
        pool: ThreadPoolExecutor,
        entries: Sequence[ManifestEntry],
        found: ReplicaUpdate,
        progress: Callable[[int], None],
    ) -> None:
        """Apply entries of one stream in their order; the next ones are downloaded meanwhile."""
        with closing(_opened(self._folder / f"{entries[0].stream}.db")) as db:
            under_way: list[tuple[ManifestEntry, Future[bytes]]] = []
            for place, entry in enumerate(entries):
                for ahead in entries[place + len(under_way) : place + _DOWNLOADS]:
                    under_way.append((ahead, pool.submit(_content, objects, ahead)))
                _, content = under_way.pop(0)
                try:
                    found.rows += _apply(db, entry, from_parquet(content.result()))
                except (ObjectMissing, DamagedFile):
                    found.lost.append(entry.key)
                progress(found.rows)


def update_search(objects: Objects, copies: Path, index: SearchIndex) -> int:
    """Add the search segments that an index does not have, as of the last update of the copies; return their number.

    Those that cannot be read now are left out: their pages are indexed here.

    Args:
        copies: The folder of the copies.
    """
    with closing(ManifestReader(copies / MANIFEST_CACHE)) as manifest:
        files = manifest.files()
    entries = {part: entry for name, entry in files.items() if (part := _search_segment(name))}
    added = 0
    try:
        for part in index.missing_parts(entries) if entries else ():
            _add_search_segment(objects, index, part, entries[part])
            added += 1
    except (StoreError, OSError) as error:
        logger.warning("search segments of the collection cannot be used now: %s", error)
    return added


def _add_search_segment(objects: Objects, index: SearchIndex, part: SearchSegment, entry: ManifestEntry) -> None:
    with TemporaryDirectory(prefix=".search-", dir=index.path.parent) as folder:
        packed = Path(folder) / part.name
        objects.download(entry.key, packed)
        if file_digest(packed) != entry.sha256:
            raise DamagedFile(f"{entry.key} of the collection is damaged: its checksum does not match; {REPAIR}")
        index.add_part(part, packed)


def _search_segment(name: str) -> SearchSegment | None:
    is_one = name.startswith(SEARCH) and name.endswith(".zst")
    return SearchSegment.from_name(name.removeprefix(SEARCH).removesuffix(".zst")) if is_one else None


def _content(objects: Objects, entry: ManifestEntry) -> bytes:
    content = objects.get(entry.key)
    if digest_of(content) != entry.sha256:
        raise DamagedFile(f"{entry.key} of the collection is damaged: its checksum does not match; {REPAIR}")
    return content


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=60)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    prepare(db, path)
    db.execute(_APPLIED)
    return db


def applied_numbers(path: Path) -> set[int]:
    """Return the numbers of the entries whose rows are in a copy."""
    if not path.is_file():
        return set()
    with closing(_opened(path)) as db:
        return {number for (number,) in db.execute("SELECT number FROM applied")}


def _apply(db: sqlite3.Connection, entry: ManifestEntry, changed: ChangedRows) -> int:
    """Apply a segment, unless another process did; return the number of its rows."""
    columns = ", ".join(changed.names[1:])
    places = ", ".join("?" * len(changed.names[1:]))
    db.execute("BEGIN IMMEDIATE")
    try:
        (last,) = db.execute("SELECT coalesce(max(number), -1) FROM applied").fetchone()
        is_new = bool(db.execute("INSERT OR IGNORE INTO applied VALUES (?)", [entry.number]).rowcount)
        if is_new:
            # one that was missing and has come back must not replace later rows
            conflict = "REPLACE" if entry.number > last else "IGNORE"
            insert = f"INSERT OR {conflict} INTO page ({columns}) VALUES ({places})"  # noqa: S608 - our own names
            db.executemany(insert, [row[1:] for row in changed.rows])
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite ends it itself when the disk is full
            db.execute("ROLLBACK")
        raise
    return len(changed.rows) if is_new else 0
