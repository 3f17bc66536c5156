"""Bring the log of a SQLite file into the file, beside the work."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from threading import Event, Thread

_SECONDS_BETWEEN = 1.0
_LONG_LOG_PAGES = 16_000


class Checkpoints:
    """A thread that copies what was committed from the log into the file, once a second while there is something.

    So hardly any commit waits for the disk, and when the power fails no more than the last second or two is lost. The
    threads of several processes on one file keep out of each other's way by themselves.

    Args:
        connect: Opens a connection of the thread's own.
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._stop = Event()
        self._thread = Thread(target=self._run, name="frontier-checkpoints", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; whoever closes the file last brings in the rest."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_SECONDS_BETWEEN):
            try:
                with closing(self._connect()) as db:
                    _bring_in(db)
            except sqlite3.Error:  # a full disk, say: the next commit meets it too, and tells
                continue


def _bring_in(db: sqlite3.Connection) -> None:
    _, log_pages, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if log_pages > _LONG_LOG_PAGES:
        # Commits that came meanwhile keep the log from starting anew. Now they wait, for the little that is left.
        db.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
