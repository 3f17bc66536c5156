"""The audit of a collection: every entry and every object is read and compared with its digest; and its repair.

A repair needs no copy of what was lost: entries that this machine has read before are written again, and the others are
given up (see `manifest`). Then the uploader finds that files are missing, and that its own streams lack entries, and
uploads what is on this machine. A local copy of another machine's segment becomes a segment of this machine.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from thresher.collection.manifest import (
    FILE,
    LARGE_BYTES,
    MERGED,
    PAGES,
    READS_AT_ONCE,
    ManifestEntry,
    ManifestReader,
    ManifestWriter,
    contents,
    entry_key,
    has_content,
    is_newer,
    merged_entries,
    merged_number,
)
from thresher.collection.replica import SEARCH, applied_numbers
from thresher.collection.streams import (
    ChangeStream,
    rows_waiting,
    settled_rows,
    stream_name,
    upload_position,
    written_numbers,
)
from thresher.collection.uploader import CollectionUploader
from thresher.errors import DamagedFile
from thresher.objects.base import Objects
from thresher.storage.page_store import COLLECTED


@dataclass
class CollectionAudit:
    """What an audit found, and what its repair could not upload again.

    Args:
        objects: Objects that were read, entries included.
        size: Their bytes.
        missing_entries: Entries of the manifest that do not exist, by their keys.
        damaged_entries: Entries that cannot be read.
        readable: Contents of such entries that this machine has read before, and whose objects are right.
        missing: Entries whose objects do not exist.
        damaged: Entries whose objects have another content.
        damaged_merged: Objects with merged entries that cannot be read.
        given_up: Entries that are given up as lost.
        waiting: Rows of this machine that wait for their upload.
        not_uploaded: Segments of this machine with the number of their rows that count as uploaded and are not.
        lost_files: Names of files that are lost, unless another machine has them.
    """

    objects: int = 0
    size: int = 0
    missing_entries: list[str] = field(default_factory=list)
    damaged_entries: list[str] = field(default_factory=list)
    readable: dict[str, bytes] = field(default_factory=dict)
    missing: list[ManifestEntry] = field(default_factory=list)
    damaged: list[ManifestEntry] = field(default_factory=list)
    damaged_merged: list[str] = field(default_factory=list)
    given_up: int = 0
    waiting: int = 0
    not_uploaded: dict[Path, int] = field(default_factory=dict)
    lost_files: list[str] = field(default_factory=list)


def audit(objects: Objects, cache: Path, own: Sequence[Path]) -> CollectionAudit:
    """Read the whole collection, and compare it with the manifest and with the page store of this machine.

    Args:
        cache: The file of a `ManifestReader`.
        own: The segments of the page store that this machine writes.

    Raises:
        StoreUnreachable: The collection does not answer.
    """
    with closing(ManifestReader(cache)) as manifest:
        manifest.update(objects)
        found = CollectionAudit(
            missing_entries=list(manifest.missing),
            damaged_entries=list(manifest.damaged),
            given_up=len(manifest.given_up()),
        )
        known = _check_entries(objects, manifest, found)
        _check_objects(objects, [*manifest.of_kind(PAGES), *manifest.of_kind(FILE)], found)
        _check_merged(objects, found)
        flawed = {*found.missing_entries, *found.damaged_entries}
        wrong = {entry_key(each.stream, each.number) for each in (*found.missing, *found.damaged)}
        _check_written(objects, own, {*known, *flawed, *manifest.given_up()}, found)
        found.readable = {key: known[key] for key in flawed - wrong if key in known}
        _check_rows(objects, manifest, own, found)
    return found


def _check_entries(objects: Objects, manifest: ManifestReader, found: CollectionAudit) -> dict[str, bytes]:
    """Compare the entries with those that this machine has read before; return these."""
    known = manifest.contents()
    for key, content in zip(known, contents(objects, known), strict=True):
        found.objects += 1
        found.size += len(content or b"")
        if content is None:
            found.missing_entries.append(key)
        elif content != known[key]:
            try:
                manifest.replace(ManifestEntry.from_object(key, content), content)  # its stream was written again
            except DamagedFile:
                found.damaged_entries.append(key)
    return known


def _check_objects(objects: Objects, entries: Sequence[ManifestEntry], found: CollectionAudit) -> None:
    sizes = {**objects.sizes("segments"), **objects.sizes("files")}
    by_key = {entry.key: entry for entry in entries}
    there = [entry for key, entry in by_key.items() if sizes.get(key) == entry.size]
    lock = threading.Lock()

    def check(entry: ManifestEntry) -> bool:
        with lock if entry.size > LARGE_BYTES else nullcontext():  # one large object at a time
            return has_content(objects, entry)

    with ThreadPoolExecutor(READS_AT_ONCE) as pool:
        is_right = dict(zip((entry.key for entry in there), pool.map(check, there), strict=True))
    found.objects += len(there)
    found.size += sum(entry.size for entry in there)
    found.missing += [entry for entry in entries if entry.key not in sizes]
    found.damaged += [entry for entry in entries if entry.key in sizes and not is_right.get(entry.key)]


def _check_merged(objects: Objects, found: CollectionAudit) -> None:
    for key in objects.sizes(MERGED):
        stream, number = key.split("/")[1], merged_number(key)
        try:
            merged_entries(objects, stream, number)
        except DamagedFile:
            found.damaged_merged.append(key)


def _check_written(objects: Objects, own: Sequence[Path], known: Collection[str], found: CollectionAudit) -> None:
    """Find the last entries of this machine's streams that nothing else names, because none follows them."""
    for path in own:
        stream = stream_name(path)
        keys = [entry_key(stream, number) for number in written_numbers(path)]
        found.missing_entries += [key for key in keys if key not in known and objects.size(key) is None]


def _check_rows(objects: Objects, manifest: ManifestReader, own: Sequence[Path], found: CollectionAudit) -> None:
    """Check that every settled row of this machine is in the collection, or waits for its upload."""
    uploaded = np.fromiter(manifest.fingerprints(), dtype=np.int64)
    for path in own:
        try:
            position = upload_position(path, stream_name(path), ManifestWriter(objects), manifest.flawed_streams())
            version = position[1] if position else 0
            found.waiting += rows_waiting(path, version)
            rows = np.array(settled_rows(path, version), dtype=np.int64)
        except sqlite3.OperationalError:  # its tables do not exist yet
            continue
        if number := int(np.count_nonzero(~np.isin(rows, uploaded))):
            found.not_uploaded[path] = number


def repair(found: CollectionAudit, objects: Objects, uploader: CollectionUploader, pages: Path) -> None:
    """Upload again what this machine has of all that is missing or damaged, and all that waits; give up the rest.

    Args:
        pages: The page store of this machine.
    """
    for key, content in found.readable.items():
        objects.delete(key)
        objects.put_new(key, content)
    for key in (*found.damaged_merged, *(entry.key for entry in found.damaged)):
        objects.delete(key)
    gone = [*found.missing, *found.damaged]
    _adopt_copies(pages, [entry for entry in gone if entry.kind == PAGES])
    for path in found.not_uploaded:
        with closing(ChangeStream(path)) as changes:
            changes.rename()
    lost = {entry_key(entry.stream, entry.number) for entry in gone}
    lost |= {*found.missing_entries, *found.damaged_entries} - found.readable.keys()
    uploader.give_up(sorted(lost))
    before = dict(uploader.files())
    uploader.step(everything=True)
    after = uploader.files()
    for entry in gone:
        kept = before.get(entry.name)
        is_last = entry.kind == FILE and not entry.name.startswith(SEARCH) and (not kept or is_newer(entry, kept))
        if is_last and after.get(entry.name) == kept:
            found.lost_files.append(entry.name)


def _adopt_copies(pages: Path, entries: Iterable[ManifestEntry]) -> None:
    """Make segments of this machine of local copies that have rows of lost objects: all their rows are uploaded."""
    own = {stream_name(path) for path in pages.glob("*.db")}
    for entry in entries:
        copy = pages / COLLECTED / f"{entry.stream}.db"
        if entry.stream not in own and entry.number in applied_numbers(copy):
            with closing(sqlite3.connect(copy, timeout=60)) as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            copy.rename(pages / f"recovered-{entry.stream}.db")
