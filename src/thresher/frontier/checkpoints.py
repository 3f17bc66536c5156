"""Bring the log of a SQLite file into the file, beside the work."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from threading import Event, Thread

_SECONDS_BETWEEN = 1.0
_BUSY_SECONDS = 5.0
_LONG_LOG_PAGES = 16_000


class Checkpoints:
    """A thread that copies what was committed from the log into the file, once a second while there is something.

    So no commit has to wait for the disk, and when the power fails no more than the last second or two is lost. In
    several processes on one file the threads take turns by themselves.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stop = Event()
        self._thread = Thread(target=self._run, name="frontier-checkpoints", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; whoever closes the file last brings in the rest."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        while not self._stop.wait(_SECONDS_BETWEEN):
            try:
                self._bring_in(db)
            except sqlite3.Error:  # a full disk, say: the next commit meets it too, and tells
                continue
        db.close()

    def _bring_in(self, db: sqlite3.Connection) -> None:
        _, log_pages, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if log_pages > _LONG_LOG_PAGES:
            # Commits that came meanwhile keep the log from starting anew. Now they wait, for the little that is left.
            db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
