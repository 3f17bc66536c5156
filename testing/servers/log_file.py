"""The append-only file of a store, which a loss of power would shorten."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from pathlib import Path

STEP_SECONDS = 0.05
KEPT_SECONDS = 10.0


class AppendLog:
    """Remembers how long a store's log was, and can make it that long again.

    A process that is killed loses nothing that it has handed to the system; a machine that loses power loses what was
    not yet on disk. The second is played by cutting the file while the server is dead.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "appendonlydir"
        self._lengths: deque[tuple[float, Path, int]] = deque()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self) -> None:
        """Begin to remember."""
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def forget(self, seconds: float) -> None:
        """Cut the log to what it was `seconds` seconds ago; 0 leaves it as it is."""
        if not seconds:
            return
        moment = time.monotonic() - seconds
        past = [(path, length) for at, path, length in list(self._lengths) if at <= moment]
        if not past or past[-1][0] != self._current():
            raise RuntimeError("the log was not watched for long enough, or was written anew meanwhile")
        os.truncate(*past[-1])

    def close(self) -> None:
        """Stop remembering."""
        self._ended.set()
        if self._thread:
            self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(STEP_SECONDS):
            if path := self._current():
                now = time.monotonic()
                self._lengths.append((now, path, path.stat().st_size))
                while self._lengths[0][0] < now - KEPT_SECONDS:
                    self._lengths.popleft()

    def _current(self) -> Path | None:
        """Return the file that is written to: of those that grow, the one with the greatest number."""
        files = self._folder.glob("*.incr.aof")
        return max(files, key=lambda path: int(path.name.split(".")[-3]), default=None)
