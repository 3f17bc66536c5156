"""The WARC files of one worker: complete records only, rotation by size, an index beside each file.

Records are built in memory and written in one call; when the disk is full, the file is truncated to its last complete
record. A killed writer leaves at most one truncated record, at the end of its last file; the next writer begins a new
file, so nothing is ever written after it.

Only compression and writing run in a thread. Beside a busy event loop a thread waits up to 5 ms for the GIL after each
step that releases it, and digests do so too: there are few such steps per response.
"""

from __future__ import annotations

import asyncio
import calendar
import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TypeVar

from thresher.records import FetchedPage, Outcome
from thresher.storage.page_store import UNCHANGED, PageRecord
from thresher.storage.warc.cdxj import ENDING, index_path, line_of, lines_of_file, write_index
from thresher.storage.warc.provenance import Paths
from thresher.storage.warc.reader import SUFFIX, warc_paths
from thresher.storage.warc.records import (
    Capture,
    Original,
    Written,
    date_of,
    digest_of,
    file_record,
    packed,
    records_of,
)
from thresher.urls.canonical import fingerprint

K = TypeVar("K")
V = TypeVar("V")

MAX_FILE_BYTES = 256 << 20
"""A file is closed when it is larger; this bounds the memory for its index."""
MAX_ORIGINALS = 50_000
"""Bodies remembered for deduplication; older ones are archived again."""


def is_kept(record: PageRecord) -> bool:
    """Return whether a response belongs into the archive: a page whose text is stored, or a redirect."""
    return record.outcome is Outcome.DONE and (bool(record.text) or 300 <= record.status < 400)


class WarcWriter:
    """Archives the responses of a worker.

    Args:
        folder: For the files of all workers.
        worker: The prefix of its file names.
        about: Fields of the warcinfo record of each file: who crawls, what for.
        paths: Finds the path from the seed to a page.
        max_bytes: The size above which a file is closed.
    """

    def __init__(
        self,
        folder: Path,
        worker: str,
        *,
        about: Mapping[str, str],
        paths: Paths,
        max_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._worker = worker
        self._about = about
        self._paths = paths
        self._max_bytes = max_bytes
        self._writing = threading.Lock()
        self._path: Path | None = None
        self._file = -1
        self._size = 0
        self._lines: list[str] = []
        self._originals: OrderedDict[str, Original] = OrderedDict()
        self._archived: OrderedDict[int, None] = OrderedDict()
        self._index_unfinished()
        self._recall()

    async def append(self, responses: Sequence[tuple[PageRecord, FetchedPage]]) -> None:
        if composed := self._composed(responses):
            await asyncio.to_thread(self._write, composed)

    def write(self, responses: Sequence[tuple[PageRecord, FetchedPage]]) -> None:
        """Archive responses.

        Raises:
            OSError: The disk is full; the file ends with its last complete record.
        """
        self._write(self._composed(responses))

    def close(self) -> None:
        with self._writing:
            self._complete()
            self._paths.close()

    def _is_wanted(self, record: PageRecord) -> bool:
        """Return whether a response belongs into the archive; an unchanged page does when it was archived before."""
        if record.reason == UNCHANGED:
            return record.fingerprint in self._archived
        return is_kept(record)

    def _composed(self, responses: Sequence[tuple[PageRecord, FetchedPage]]) -> list[_Composed]:
        """Build the records of the responses that belong into the archive."""
        composed: list[_Composed] = []
        under_way: dict[str, Original] = {}
        for record, answer in responses:
            if self._is_wanted(record):
                digest = digest_of(answer.body)
                original = self._originals.get(digest) or under_way.get(digest) if answer.body else None
                capture = Capture(record=record, answer=answer, digest=digest, path=self._paths.to(record))
                first, *others = records_of(capture, original)
                composed.append(_Composed(record, first, b"".join(packed(other.content) for other in others), digest))
                if original is None:
                    under_way[digest] = Original(url=record.url, date=first.headers["WARC-Date"])
        return composed

    def _write(self, composed: Sequence[_Composed]) -> None:
        with self._writing:
            for each in composed:
                if self._path is None or self._size >= self._max_bytes:
                    self._next_file()
                content = packed(each.first.content)
                offset = self._append(content + each.others)
                self._record(each, offset, len(content))

    def _record(self, each: _Composed, offset: int, length: int) -> None:
        """Add a record to the index, and its body to the known originals."""
        first, url = each.first, each.record.url
        assert self._path is not None
        assert first.http is not None
        headers = {name.lower(): value for name, value in first.headers.items()} | {"warc-type": first.kind}
        http = {name.lower(): value for name, value in reversed(first.http.headers)}
        http[""] = f"{first.http.protocol} {first.http.statusline}"
        self._lines.append(line_of(self._path.name, offset, length, headers, http))
        _remember(self._archived, each.record.fingerprint, None)
        if first.kind == "response":
            _remember(self._originals, each.digest, Original(url=url, date=headers["warc-date"]))

    def _append(self, content: bytes) -> int:
        """Write records; return their offset."""
        offset, left = self._size, memoryview(content)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            os.ftruncate(self._file, offset)
            raise
        self._size += len(content)
        return offset

    def _index_unfinished(self) -> None:
        """Index the files that this worker left without an index when it was killed: it alone writes to them.

        Only files with an index are uploaded, and `verify` misses one.
        """
        for path in warc_paths(self._folder):
            if path.name.startswith(f"{self._worker}-") and not index_path(path).exists():
                with suppress(OSError):  # the disk may be full; the next run tries again
                    write_index(path, lines_of_file(path))

    def _recall(self) -> None:
        """Load from the newest indexes which pages and bodies were archived in earlier runs, by any worker."""
        newest = sorted(self._folder.glob(f"*{ENDING}"), key=lambda path: path.stat().st_mtime, reverse=True)
        lines = chain.from_iterable(path.read_text(encoding="utf-8").splitlines() for path in newest)
        for line in islice(lines, MAX_ORIGINALS):
            with suppress(ValueError, LookupError, TypeError):  # a line of another program
                _, moment, fields = line.split(" ", 2)
                entry = json.loads(fields)
                _remember(self._archived, fingerprint(entry["url"]), None)
                if entry["mime"] != "warc/revisit":
                    date = date_of(calendar.timegm(time.strptime(moment, "%Y%m%d%H%M%S")))
                    _remember(self._originals, entry["digest"], Original(url=entry["url"], date=date))

    def _next_file(self) -> None:
        self._complete()
        name = f"{self._worker}-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
        number = sum(path.name.startswith(name) for path in warc_paths(self._folder))
        path = self._folder / f"{name}-{number:05d}{SUFFIX}"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._path, self._size, self._lines = path, 0, []
        self._append(packed(file_record(path.name, self._about).content))

    def _complete(self) -> None:
        if self._path is not None:
            os.fsync(self._file)
            os.close(self._file)
            with suppress(OSError):  # the disk may be full; the index can be rebuilt from its file
                write_index(self._path, self._lines)
            self._path = None


@dataclass(frozen=True, slots=True)
class _Composed:
    """The records of a response: the first is not compressed yet."""

    record: PageRecord
    first: Written
    others: bytes
    digest: str


def _remember(known: OrderedDict[K, V], key: K, value: V) -> None:
    known[key] = value
    if len(known) > MAX_ORIGINALS:
        known.popitem(last=False)
