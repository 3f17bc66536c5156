"""A record of every connection that the processes of a crawl ask for, and of every name that they leave to the system.

A page of C before libc sees connections, also those of libraries in C; an audit hook of Python sees names and datagrams
before they leave. What would leave this machine is refused there and then, after it was written down.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from unittest.mock import patch

HOOK = Path(__file__).parent / "recording"
SOURCE = Path(__file__).with_name("connects.c")


@cache
def connects_library() -> Path:
    """Compile the library to preload, once per process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    library = Path(folder.name) / "connects.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Record:
    """What was asked for so far."""

    path: Path

    def connects(self) -> list[tuple[str, int]]:
        """Return the addresses and ports that were to be connected to, in their order."""
        return [(host, int(port)) for kind, host, port in self._lines() if kind == "connect"]

    def sends(self) -> list[tuple[str, int]]:
        """Return where datagrams were to go."""
        return [(host, int(port)) for kind, host, port in self._lines() if kind == "send"]

    def names(self) -> list[str]:
        """Return the names that the system was to look up."""
        return [host for kind, host, _ in self._lines() if kind == "name"]

    def _lines(self) -> list[list[str]]:
        return [line.split() for line in self.path.read_text(encoding="utf-8").splitlines()]


@contextmanager
def recorded() -> Iterator[Record]:
    """Record the processes that are started inside the block, and theirs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.txt"
        path.touch()
        record, library = str(path), str(connects_library())
        hooks = {"PYTHONPATH": str(HOOK), "THRESHER_TEST_RECORD": record}
        with patch.dict(os.environ, {**hooks, "LD_PRELOAD": library, "THRESHER_TEST_CONNECTS": record}):
            yield Record(path)
