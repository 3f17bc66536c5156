"""Atomic file writes: a file appears under its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import ExportError, is_disk_full
from thresher.locale.translation import _


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
        raise ExportError(
            _("{path} cannot be written: {error}; choose another place", path=path, error=_(str(error.strerror)))
        ) from error
    with renamed_when_complete(unfinished, path):
        yield unfinished


@contextmanager
def renamed_when_complete(
    unfinished: Path, path: Path, *, replace: bool = True, durable: bool = True
) -> Iterator[None]:
    """Rename a file that is written inside the block; remove it after an error.

    Args:
        replace: Whether a file at `path` is replaced.
        durable: Whether content and name survive a loss of power.

    Raises:
        FileExistsError: There is a file at `path`, and it is not to be replaced.
    """
    try:
        yield
        if durable:
            _sync(unfinished)
        if replace:
            unfinished.replace(path)
        else:
            os.link(unfinished, path)  # unlike a rename, this fails when the name is taken
    finally:
        unfinished.unlink(missing_ok=True)
    if durable:
        _sync(path.parent)


def _sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
