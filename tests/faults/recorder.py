"""A record of every connection that the processes of a crawl ask for, and of every name that they leave to the system.

Python tells an audit hook of each before it happens, whatever library asks; what would leave this machine is refused
there and then, after it was written down.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

HOOK = Path(__file__).parent / "recording"


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
    """Record the Python processes that are started inside the block, and theirs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.txt"
        path.touch()
        with patch.dict(os.environ, {"PYTHONPATH": str(HOOK), "THRESHER_TEST_RECORD": str(path)}):
            yield Record(path)
