"""The uploader of a machine: closes segments, uploads them, and continues while the crawl runs.

It runs in the supervisor's process, in a thread of its own, so no worker ever waits for the object storage. A segment
is closed when `SEGMENT_ROWS` rows or `SEGMENT_BYTES` have changed in a page store file, when the oldest change is
`SEGMENT_SECONDS` old, and when the run ends. It is built from the rows at that moment, uploaded, and entered into the
manifest.

There is no local state: what is uploaded is what the manifest has. A killed uploader continues after the last entry of
its stream. While the storage does not answer, it retries with growing pauses, and the rows wait in the page store.
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

from thresher.collection.manifest import (
    FILE,
    MANIFEST_CACHE,
    MERGE_ENTRIES,
    PAGES,
    ManifestEntry,
    ManifestReader,
    ManifestWriter,
    StreamTaken,
    digest_of,
    file_digest,
    packed_fingerprints,
)
from thresher.collection.streams import ChangeStream, has_format, rename_stream, to_parquet, waiting_rows
from thresher.errors import ThresherError
from thresher.objects.base import Objects
from thresher.objects.interruptible import InterruptibleObjects

logger = logging.getLogger(__name__)

SEGMENT_ROWS, SEGMENT_BYTES, SEGMENT_SECONDS = 2_000, 16 << 20, 15.0
TICK_SECONDS = 1.0
FILES_STREAM = "files-stream"
"""The file with the name of a folder's stream of files."""
FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 60.0
JOIN_SECONDS = 0.2


@dataclass
class _Stream:
    """A stream of this machine: how far it is uploaded, and since when changes wait."""

    changes: ChangeStream
    number: int
    version: int
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
        segment_rows: int = SEGMENT_ROWS,
        segment_seconds: float = SEGMENT_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._objects = objects
        self._manifest = ManifestWriter(objects)
        self._segments = segments
        self._files = files
        self._on_uploaded = on_uploaded
        self._segment_rows = segment_rows
        self._segment_seconds = segment_seconds
        self._clock = clock
        self._streams: dict[Path, _Stream] = {}
        self._folder = folder
        self._uploaded: dict[str, ManifestEntry] | None = None
        self._file_stream = ""
        self._file_number = 0

    def step(self, *, everything: bool = False) -> int:
        """Upload the segments that are to be closed; with `everything`, all changes and all files.

        Returns:
            How many segments were uploaded.

        Raises:
            StoreUnreachable: The storage does not answer.
        """
        uploaded = 0
        for path in self._segments():
            stream = self._opened(path)
            while stream is not None and self._is_due(stream, everything=everything):
                try:
                    self._upload(stream)
                except StreamTaken:
                    logger.warning(
                        "%s is written by another machine; its pages are uploaded again", stream.changes.name
                    )
                    self._start_anew(path)
                    break
                uploaded += 1
                if stream.number % MERGE_ENTRIES == 0:
                    self._manifest.merge(stream.changes.name)
        if everything or uploaded:
            self._upload_files(everything=everything)
        return uploaded

    def waiting(self) -> int:
        """Return how many rows of this machine are not uploaded, by the page store and the last answers; no request."""
        with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
            versions = manifest.last_versions()
        versions |= {stream.changes.name: stream.version for stream in list(self._streams.values())}
        return sum(waiting_rows(self._segments(), versions))

    def waiting_files(self) -> int:
        """Return how many complete files are not uploaded, by the last answers; no request is sent.

        Models and search segments, which are made for an upload, are not counted.
        """
        known = self._uploaded
        if known is None:
            with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
                known = manifest.files()
        files = self._files(UploadRound(everything=False, versions={}))
        return sum(not _is_uploaded(content, known.get(name)) for name, content in files)

    def close(self) -> None:
        for stream in self._streams.values():
            stream.changes.close()
        self._streams.clear()

    def _opened(self, path: Path) -> _Stream | None:
        """Return the stream of a file; None while its writer has not created its tables."""
        if path not in self._streams:
            if not has_format(path):
                return None
            changes = ChangeStream(path)
            try:
                last = self._manifest.last(changes.name)
            except BaseException:
                changes.close()
                raise
            number, version = (last.number + 1, last.last_version) if last else (0, 0)
            self._streams[path] = _Stream(changes, number, version)
        return self._streams[path]

    def _is_due(self, stream: _Stream, *, everything: bool) -> bool:
        waiting = stream.changes.waiting(stream.version)
        if not waiting:
            stream.since = None
            return False
        stream.since = self._clock() if stream.since is None else stream.since
        return everything or waiting >= self._segment_rows or self._clock() - stream.since >= self._segment_seconds

    def _upload(self, stream: _Stream) -> None:
        """Upload the next segment of a stream: first the object, then its entry."""
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
        self._objects.put_new(entry.key, content)
        self._manifest.add(entry)
        stream.number, stream.version, stream.since = entry.number + 1, entry.last_version, None
        self._on_uploaded(entry.name, changed.settled)

    def _start_anew(self, path: Path) -> None:
        """Give a segment that is a copy of another machine's a stream of its own."""
        self._streams.pop(path).changes.close()
        rename_stream(path)

    def _upload_files(self, *, everything: bool) -> None:
        known = self._known_files()
        versions = {path: stream.version for path, stream in self._streams.items()}
        for name, content in self._files(UploadRound(everything, versions)):
            if _is_uploaded(content, known.get(name)):
                continue
            try:
                known[name] = self._upload_file(name, content)
            except StreamTaken:
                logger.warning("%s is written by another machine; files are uploaded again", self._file_stream)
                (self._folder / FILES_STREAM).unlink(missing_ok=True)
                self._uploaded = None
                self._upload_files(everything=everything)
                return

    def _upload_file(self, name: str, content: Path | bytes) -> ManifestEntry:
        entry = ManifestEntry(
            stream=self._file_stream,
            number=self._file_number,
            kind=FILE,
            name=name,
            sha256=digest_of(content) if isinstance(content, bytes) else file_digest(content),
            size=_size(content),
            written_at=time.time(),
        )
        if isinstance(content, bytes):
            self._objects.put_new(entry.key, content)
        else:
            self._objects.put_file(entry.key, content)
        self._manifest.add(entry)
        self._file_number += 1
        if self._file_number % MERGE_ENTRIES == 0:
            self._manifest.merge(self._file_stream)
        return entry

    def _known_files(self) -> dict[str, ManifestEntry]:
        """Return the files of the collection, read once; this also finds the place in the stream of files."""
        if self._uploaded is None:
            with closing(ManifestReader(self._folder / MANIFEST_CACHE)) as manifest:
                manifest.update(self._objects)
                self._uploaded = manifest.files()
            self._file_stream = _file_stream(self._folder)
            last = self._manifest.last(self._file_stream)
            self._file_number = last.number + 1 if last else 0
        return self._uploaded


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
            while not self._round(everything=True) and time.monotonic() < self._until:
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
            return False
        self.error = ""
        self.has_succeeded = True
        return True

    def _longer(self, pause: float) -> float:
        """Return the next pause after a failure: about twice as long."""
        return min(LONGEST_RETRY_SECONDS, max(FIRST_RETRY_SECONDS, pause * random.uniform(1.5, 2.5)))  # noqa: S311


def _size(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def _is_uploaded(content: Path | bytes, entry: ManifestEntry | None) -> bool:
    """Compare a file with its entry; one that is given by its path is complete, and never changes."""
    if entry is None or entry.size != _size(content):
        return False
    return isinstance(content, Path) or digest_of(content) == entry.sha256


def _file_stream(folder: Path) -> str:
    """Return the name of this folder's stream of files: generated once, and stored in the folder."""
    path = folder / FILES_STREAM
    if not path.is_file():
        path.write_text(f"files.{secrets.token_hex(4)}", encoding="ascii")
    return path.read_text(encoding="ascii").strip()
