"""The path from a seed to a page, for the metadata of its capture, from the segments on this machine."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from pathlib import Path

from thresher.sqlite_files import open_to_read
from thresher.storage.page_store import PageRecord, segment_files

_STEP = "SELECT url, parent FROM page WHERE fingerprint = ? ORDER BY id DESC LIMIT 1"
_MAX_STEPS = 20_000
_MAX_HOPS = 100
_SCAN_SECONDS = 10.0


class Paths:
    """A cache of the latest pages and their parents; older ones are looked up in the page store.

    Where a page was found by another machine, the path begins there.
    """

    def __init__(self, pages: Path) -> None:
        self._folder = pages
        self._segments: dict[Path, sqlite3.Connection] = {}
        self._scanned_at = 0.0
        self._steps: OrderedDict[int, tuple[str, int]] = OrderedDict()

    def to(self, record: PageRecord) -> list[str]:
        """Return the URLs from the seed to the parent of this page; none for a seed."""
        self._record(record.fingerprint, (record.url, record.parent))
        path: list[str] = []
        parent, passed = record.parent, {record.fingerprint}
        while parent and parent not in passed and len(path) < _MAX_HOPS:
            passed.add(parent)
            step = self._steps.get(parent) or self._find(parent)
            if step is None:
                break
            path.append(step[0])
            parent = step[1]
        return path[::-1]

    def close(self) -> None:
        for segment in self._segments.values():
            segment.close()
        self._segments.clear()

    def _record(self, fingerprint: int, step: tuple[str, int]) -> None:
        self._steps[fingerprint] = step
        if len(self._steps) > _MAX_STEPS:
            self._steps.popitem(last=False)

    def _find(self, fingerprint: int) -> tuple[str, int] | None:
        self._open_new()
        for segment in self._segments.values():
            if row := segment.execute(_STEP, [fingerprint]).fetchone():
                self._record(fingerprint, row)
                return str(row[0]), int(row[1])
        return None

    def _open_new(self) -> None:
        """Open segments that other workers have created, at most every few seconds."""
        if time.monotonic() - self._scanned_at < _SCAN_SECONDS and self._scanned_at:
            return
        self._scanned_at = time.monotonic()
        for path in segment_files(self._folder):
            if path not in self._segments and (segment := _opened(path)) is not None:
                self._segments[path] = segment


def _opened(path: Path) -> sqlite3.Connection | None:
    """Open a segment; None while its worker is still creating it."""
    db = open_to_read(path, check_same_thread=False)
    try:
        db.execute(_STEP, [0])
    except sqlite3.OperationalError:
        db.close()
        return None
    return db
