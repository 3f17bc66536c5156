"""The uploader of a machine: closes segments, uploads them, and continues while the crawl runs.

It runs in the supervisor's process, in a thread of its own, so no worker ever waits for the object storage. A segment
is closed when `SEGMENT_ROWS` rows or `SEGMENT_BYTES` have changed in a page store file, when the oldest change is
`SEGMENT_SECONDS` old, and when the run ends. It is built from the rows at that moment, uploaded, and entered into the
manifest.

What is uploaded is what the manifest has. A killed uploader continues after the last entry of its stream, if that is
the one that the page store file recorded; else all of its rows are uploaded again, in a new stream. While the storage
does not answer, it retries with growing pauses, and the rows wait in the page store.
"""

from __future__ import annotations

import logging
import random
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thresher.collection.manifest import (
    FILE,
    LOST,
    MANIFEST_CACHE,
    MERGE_ENTRIES,
    PAGES,
    ManifestEntry,
    ManifestReader,
    ManifestWriter,
    StreamTaken,
    claim,
    digest_of,
    file_digest,
    has_content,
    packed_fingerprints,
)
from thresher.collection.streams import (
    ChangeStream,
    has_diverged,
    has_format,
    rows_not_confirmed,
    to_parquet,
    upload_position,
)
from thresher.errors import ConfigError, DamagedFile, ThresherError
from thresher.objects.base import Objects
from thresher.objects.interruptible import InterruptibleObjects
from thresher.storage.page_store import UPLOADED_TO

logger = logging.getLogger(__name__)

SEGMENT_ROWS, SEGMENT_BYTES, SEGMENT_SECONDS = 2_000, 16 << 20, 15.0
TICK_SECONDS = 1.0
FILES_STREAM = "files-stream"
"""The file with the name of a folder's stream of files."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 60.0
JOIN_SECONDS = 0.2
_DIVERGED = "are not those of this folder, which may be a copy or a backup"


@dataclass
class _Stream:
    """A stream of this machine: how far it is uploaded, and since when changes wait."""

    changes: ChangeStream
    number: int = 0
    version: int = 0
    since: float | None = None


@dataclass(frozen=True)
class UploadRound:
    """One round of an uploader.

    Args:
        everything: Whether all that waits is uploaded, also what changes often.
        versions: Of each segment of the page store, the version up to which its changes are uploaded.
    """

    everything: bool
    versions: Mapping[Path, int]


class CollectionUploader:
    """Uploads what is new on this machine; `step` does one round.

    Args:
        segments: Returns the files of the page store that this machine writes.
        folder: For the cache of the manifest and the name of the stream of files.
        files: Yields the complete files to upload: paths, or contents, with their names in the crawl's folder.
        on_uploaded: Called with the name of a worker and the fingerprints of its URLs that are uploaded now.
        crawl_id: Returns the id of the crawl, which the collection must belong to; empty for any.
        clock: A monotonic clock.
    """

    def __init__(
        self,
        objects: Objects,
        segments: Callable[[], Sequence[Path]],
        *,
        folder: Path,
        files: Callable[[UploadRound], Iterable[tuple[str, Path | bytes]]] = lambda upload: (),
        on_uploaded: Callable[[str, list[int]], None] = lambda worker, numbers: None,
        crawl_id: Callable[[], str] = str,
        segment_rows: int = SEGMENT_ROWS,
        segment_seconds: float = SEGMENT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._objects = objects
        self._manifest = ManifestWriter(objects)
        self._segments = segments
        self._files = files
        self._on_uploaded = on_uploaded
        self._crawl_id = crawl_id
        self._segment_rows = segment_rows
        self._segment_seconds = segment_seconds
        self._clock = clock
        self._streams: dict[Path, _Stream] = {}
        self._folder = folder
        self._uploaded: dict[str, ManifestEntry] | None = None
        self._flawed: set[str] = set()
        self._digests: dict[tuple[Path, int, int], str] = {}
        self._file_stream = ""
        self._file_number = 0

    def step(self, *, everything: bool = False) -> int:
        """Upload the segments that are to be closed; with `everything`, all changes and all files.

        The first call reads the manifest.

        Returns:
            How many segments were uploaded.

        Raises:
            ConfigError: The collection belongs to another crawl, or its storage cannot hold a collection.
            StoreUnreachable: The storage does not answer.
        """
        self.files()
        uploaded = 0
        for path in self._segments():
            while (stream := self._opened(path)) is not None and self._is_due(stream, everything=everything):
                uploaded += self._uploads(path, stream)
        if everything or uploaded:
            self._upload_files(everything=everything)
        return uploaded

    def give_up(self, keys: Iterable[str]) -> None:
        """Give up entries of the manifest as lost; the next step uploads what this machine has of them.

        Raises:
            StreamTaken: Another machine writes this folder's stream of files.
        """
        self.files()
        for key in keys:
            self._add(self._file_entry(LOST, key, sha256=digest_of(key.encode()), size=0))
        self._uploaded = None
        self.close()

    def waiting(self) -> int:
        """Return how many changed rows are not uploaded yet, or not known to be; no request is sent."""
        return sum(self._waiting_in(path) for path in self._segments() if has_format(path))

    def _waiting_in(self, path: Path) -> int:
        stream = self._streams.get(path)
        return stream.changes.waiting(stream.version) if stream else rows_not_confirmed(path)

    def waiting_files(self) -> int:
        """Return how many complete files are not uploaded, by the last answers; no request is sent.

        Models and search segments, which are made for an upload, are not counted.
        """
        known = self._uploaded
        if known is None:
            with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
                known = manifest.files()
        files = self._files(UploadRound(everything=False, versions={}))
        return sum(name not in known or known[name].sha256 != self._digest(content) for name, content in files)

    def close(self) -> None:
        for stream in self._streams.values():
            stream.changes.close()
        self._streams.clear()

    def _opened(self, path: Path) -> _Stream | None:
        """Return the stream of a file; None while its writer has not created its tables."""
        if path not in self._streams:
            if not has_format(path):
                return None
            stream = _Stream(ChangeStream(path))
            try:
                self._find_position(path, stream)
            except BaseException:
                stream.changes.close()
                raise
            self._streams[path] = stream
        return self._streams[path]

    def _find_position(self, path: Path, stream: _Stream) -> None:
        """Find the place in the manifest where a stream goes on; one that another copy continued begins anew."""
        name = stream.changes.name
        position = upload_position(path, name, self._manifest, self._flawed)
        if position is None:
            diverged = name not in self._flawed and has_diverged(path, name, self._manifest)
            self._start_anew(stream, _DIVERGED if diverged else "are missing or damaged")
        else:
            stream.number, stream.version = position

    def _is_due(self, stream: _Stream, *, everything: bool) -> bool:
        waiting = stream.changes.waiting(stream.version, self._segment_rows)
        if not waiting:
            stream.since = None
            return False
        stream.since = self._clock() if stream.since is None else stream.since
        return everything or waiting >= self._segment_rows or self._clock() - stream.since >= self._segment_seconds

    def _uploads(self, path: Path, stream: _Stream) -> bool:
        """Upload the next segment of a stream; False when another machine writes it, so that it begins anew."""
        try:
            self._upload(stream)
        except StreamTaken:
            self._start_anew(stream, _DIVERGED)
            return False
        except BaseException:  # whether the entry was written is found out the next time
            self._streams.pop(path).changes.close()
            raise
        self._merge(stream.changes.name, stream.number)
        return True

    def _upload(self, stream: _Stream) -> None:
        """Upload the next segment of a stream: first the object, then its entry, which is recorded before."""
        changed = stream.changes.read(stream.version, max_rows=self._segment_rows, max_bytes=SEGMENT_BYTES)
        content = to_parquet(changed)
        entry = ManifestEntry(
            stream=stream.changes.name,
            number=stream.number,
            kind=PAGES,
            name=stream.changes.worker,
            sha256=digest_of(content),
            size=len(content),
            written_at=time.time(),
            rows=len(changed.rows),
            last_version=changed.last_version,
            settled=packed_fingerprints(changed.settled),
        )
        self._put(entry, content)
        stream.changes.record(entry)
        self._manifest.add(entry)
        stream.changes.record_written(entry)
        stream.number, stream.version, stream.since = entry.number + 1, entry.last_version, None
        self._on_uploaded(entry.name, changed.settled)

    def _start_anew(self, stream: _Stream, cause: str) -> None:
        """Upload all rows of a segment again, in a stream of its own."""
        name = stream.changes.name
        logger.warning("entries of %s in the manifest %s; all of its pages are uploaded again", name, cause)
        stream.changes.rename()
        stream.number = stream.version = 0

    def _upload_files(self, *, everything: bool) -> None:
        known = self.files()
        versions = {path: stream.version for path, stream in self._streams.items()}
        for name, content in self._files(UploadRound(everything, versions)):
            before, digest = known.get(name), self._digest(content)
            if before and before.sha256 == digest:
                continue
            try:
                known[name] = self._upload_file(name, content, digest, before.revision + 1 if before else 1)
            except StreamTaken:
                logger.warning("%s is written by another machine; files are uploaded again", self._file_stream)
                _file_stream(self._folder, anew=True)
                self._uploaded = None
                self._upload_files(everything=everything)
                return

    def _digest(self, content: Path | bytes) -> str:
        """Return the digest of a file; that of one on disk is computed once, and again when it has changed."""
        if isinstance(content, bytes):
            return digest_of(content)
        state = content.stat()
        key = content, state.st_size, state.st_mtime_ns
        if key not in self._digests:
            self._digests[key] = file_digest(content)
        return self._digests[key]

    def _upload_file(self, name: str, content: Path | bytes, digest: str, revision: int) -> ManifestEntry:
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        entry = self._file_entry(FILE, name, sha256=digest, size=size, revision=revision)
        self._put(entry, content)
        self._add(entry)
        return entry

    def _put(self, entry: ManifestEntry, content: Path | bytes) -> None:
        """Store the object of an entry; one that is there already is read, and replaced if it is damaged."""
        if isinstance(content, bytes):
            if not self._objects.put_new(entry.key, content) and not has_content(self._objects, entry):
                self._objects.delete(entry.key)
                self._objects.put_new(entry.key, content)
            return
        if self._objects.size(entry.key) == entry.size and not has_content(self._objects, entry):
            self._objects.delete(entry.key)
        self._objects.put_file(entry.key, content)

    def _file_entry(self, kind: str, name: str, **fields: Any) -> ManifestEntry:
        return ManifestEntry(
            stream=self._file_stream, number=self._file_number, kind=kind, name=name, written_at=time.time(), **fields
        )

    def _add(self, entry: ManifestEntry) -> None:
        """Add an entry to the stream of files."""
        self._manifest.add(entry)
        self._file_number += 1
        self._merge(self._file_stream, self._file_number)

    def _merge(self, stream: str, entries: int) -> None:
        if entries % MERGE_ENTRIES == 0:
            try:
                self._manifest.merge(stream)
            except DamagedFile as error:  # readers take the entries one by one
                logger.warning("%s", error)

    def files(self) -> dict[str, ManifestEntry]:
        """Return the files of the collection, by name; the first call reads the manifest."""
        if self._uploaded is None:
            if crawl_id := self._crawl_id():
                claim(self._objects, crawl_id)
            with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
                manifest.update(self._objects)
                self._flawed = manifest.flawed_streams()
                self._file_stream = _file_stream(self._folder)
                self._file_number = self._next_file_number(manifest)
                self._uploaded = manifest.files()
            (self._folder / UPLOADED_TO).write_text(self._objects.url, encoding="utf-8")
        return self._uploaded

    def _next_file_number(self, manifest: ManifestReader) -> int:
        """Return the next number of the stream of files; one whose last entries are lost or damaged begins anew."""
        try:
            last = self._manifest.last(self._file_stream)
            number = last.number + 1 if last else 0
        except DamagedFile:
            number = -1
        if number >= manifest.next_number(self._file_stream):
            return number
        self._file_stream = _file_stream(self._folder, anew=True)
        return 0


class UploadThread:
    """Uploads in the background until it is stopped.

    Args:
        uploader: Used by the thread only, until it has ended.
        objects: What the uploader sends its requests to; open ones are given up at the end.
        tick_seconds: Time between two rounds.
    """

    def __init__(
        self,
        uploader: CollectionUploader,
        objects: InterruptibleObjects | None = None,
        *,
        tick_seconds: float = TICK_SECONDS,
    ) -> None:
        self._uploader = uploader
        self._objects = objects
        self._tick_seconds = tick_seconds
        self._stopping = threading.Event()
        self._until = float("inf")
        self._is_refused = False
        self.error = ""
        """Why the last round failed; empty when it succeeded."""
        self.has_succeeded = False
        """Whether a round has succeeded: then it is known what the collection has of this machine."""
        self._thread = threading.Thread(target=self._run, name="collection", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self, seconds: float) -> int:
        """Upload everything, and stop; return how many rows wait when all is uploaded or the time is over."""
        if self._thread.ident is None:
            return 0
        self.shorten(seconds)
        self._stopping.set()
        while self._thread.is_alive() and time.monotonic() < self._until:
            self._thread.join(JOIN_SECONDS)
        if self._thread.is_alive() and self._objects:
            silent = self._objects.silent_seconds
            problem = f"did not answer for {silent:.0f} s" if silent >= 1 else "did not get all of it in time"
            self._objects.interrupt(self.error or f"{self._objects.url} {problem}")
        self._thread.join(FIRST_RETRY_SECONDS)
        waiting = self._uploader.waiting()
        if not self._thread.is_alive():
            self._uploader.close()
        return waiting

    def shorten(self, seconds: float) -> None:
        """Let `finish` end within a time."""
        self._until = min(self._until, time.monotonic() + seconds)

    def waiting_files(self) -> int:
        """Return how many complete files are not uploaded; after `finish`."""
        return self._uploader.waiting_files()

    def _run(self) -> None:
        pause = self._tick_seconds
        try:
            while not self._stopping.wait(pause):
                pause = self._tick_seconds if self._round() else self._longer(pause)
            while not self._round(everything=True) and not self._is_refused and time.monotonic() < self._until:
                time.sleep(min(FIRST_RETRY_SECONDS, max(0.0, self._until - time.monotonic())))
        except BaseException as error:
            self.error = f"uploads ended with an error: {error!r}"
            raise

    def _round(self, *, everything: bool = False) -> bool:
        try:
            self._uploader.step(everything=everything)
        except (ThresherError, OSError, sqlite3.Error) as error:
            if not self.error:
                logger.warning("pages cannot be uploaded, and wait on this machine: %s", error)
            self.error = str(error) or type(error).__name__
            self._is_refused = isinstance(error, ConfigError)  # no use to wait for another answer
            return False
        self.error = ""
        self.has_succeeded = True
        return True

    def _longer(self, pause: float) -> float:
        """Return the next pause after a failure: about twice as long."""
        return min(MAX_RETRY_SECONDS, max(FIRST_RETRY_SECONDS, pause * random.uniform(1.5, 2.5)))  # noqa: S311


def _file_stream(folder: Path, *, anew: bool = False) -> str:
    """Return the name of this folder's stream of files: generated once, and stored in the folder."""
    path = folder / FILES_STREAM
    if anew or not path.is_file():
        path.write_text(f"files.{secrets.token_hex(4)}", encoding="ascii")
    return path.read_text(encoding="ascii").strip()
