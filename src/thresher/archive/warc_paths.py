"""The way from a seed to a page, for the metadata of its capture: found in the segments of this machine."""

from __future__ import annotations

import sqlite3
import time
from collections import OrderedDict
from pathlib import Path

from thresher.archive.pages import PageRecord
from thresher.sqlite_read import open_to_read

_STEP = "SELECT url, parent FROM page WHERE fingerprint = ? ORDER BY id DESC LIMIT 1"
_MOST_STEPS = 20_000
_MOST_HOPS = 100
_LOOK_SECONDS = 10.0


class Paths:
    """Remembers the last pages and where they were found; older ones are looked up in the page store.

    Where a page was found by another machine, the path begins there.
    """

    def __init__(self, pages: Path) -> None:
        self._folder = pages
        self._segments: dict[Path, sqlite3.Connection] = {}
        self._looked_at = 0.0
        self._steps: OrderedDict[int, tuple[str, int]] = OrderedDict()

    def to(self, record: PageRecord) -> list[str]:
        """Return the URLs from the seed to the page on which this one was found; none for a seed."""
        self._note(record.fingerprint, (record.url, record.parent))
        path: list[str] = []
        parent, passed = record.parent, {record.fingerprint}
        while parent and parent not in passed and len(path) < _MOST_HOPS:
            passed.add(parent)
            step = self._steps.get(parent) or self._find(parent)
            if step is None:
                break
            path.append(step[0])
            parent = step[1]
        return path[::-1]

    def close(self) -> None:
        """Let go of the segments."""
        for segment in self._segments.values():
            segment.close()
        self._segments.clear()

    def _note(self, fingerprint: int, step: tuple[str, int]) -> None:
        self._steps[fingerprint] = step
        if len(self._steps) > _MOST_STEPS:
            self._steps.popitem(last=False)

    def _find(self, fingerprint: int) -> tuple[str, int] | None:
        self._open_new()
        for segment in self._segments.values():
            if row := segment.execute(_STEP, [fingerprint]).fetchone():
                self._note(fingerprint, row)
                return str(row[0]), int(row[1])
        return None

    def _open_new(self) -> None:
        """Look now and then which segments other workers have begun."""
        if time.monotonic() - self._looked_at < _LOOK_SECONDS and self._looked_at:
            return
        self._looked_at = time.monotonic()
        for path in self._folder.glob("*.db"):
            if path not in self._segments and (segment := _opened(path)) is not None:
                self._segments[path] = segment


def _opened(path: Path) -> sqlite3.Connection | None:
    """Open a segment; None while its worker is still making it."""
    db = open_to_read(path, check_same_thread=False)
    try:
        db.execute(_STEP, [0])
    except sqlite3.OperationalError:
        db.close()
        return None
    return db
