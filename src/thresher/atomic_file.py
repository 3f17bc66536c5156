"""Atomic file writes: a file appears under its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import ExportError, is_disk_full


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; it replaces `path` at the end, and is removed after an error.

    A killed process leaves ``NAME.part`` behind, and `path` as it was before.

    Raises:
        ExportError: No file of that name can be written.
    """
    unfinished = path.with_name(f"{path.name}.part")
    try:
        unfinished.touch()
    except OSError as error:
        if is_disk_full(error):
            raise
        raise ExportError(f"{path} cannot be written: {error.strerror}; choose another place") from error
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
