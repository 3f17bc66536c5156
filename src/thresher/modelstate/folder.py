"""Learner state as files in the crawl's folder: one subfolder per worker, one file per entry, replaced atomically."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class FolderStateStore:
    """The state store of one worker on this machine.

    Args:
        folder: The folder of all workers of the crawl.
        worker: The worker's name; without a name nothing is ever written.
    """

    write_seconds = 5.0

    def __init__(self, folder: Path, worker: str = "") -> None:
        self._folder = folder
        self._worker = worker
        self._seen: dict[Path, int] = {}

    def write(self, kind: str, content: bytes) -> None:
        if not self._worker:
            return
        own = self._folder / self._worker
        own.mkdir(parents=True, exist_ok=True)
        beside = own / f".{kind}.new"
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(own / kind)

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind; without a worker's name, the largest entry of all workers."""
        if self._worker:
            own = self._folder / self._worker / kind
            return own.read_bytes() if own.is_file() else None
        largest = max(self._folder.glob(f"*/{kind}"), key=lambda path: path.stat().st_size, default=None)
        return largest.read_bytes() if largest else None

    def read_others(self, kind: str) -> Sequence[bytes]:
        found = [path for path in sorted(self._folder.glob(f"*/{kind}")) if path.parent.name != self._worker]
        new = {path: stamp for path in found if self._seen.get(path) != (stamp := path.stat().st_mtime_ns)}
        self._seen.update(new)
        return [path.read_bytes() for path in new]
