"""Files that appear under their names only when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import ExportError, is_disk_full


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Give the path to write to; it takes the place of `path` at the end, and is gone when something went wrong.

    A process that is killed leaves ``NAME.part`` behind, and what was there before stays as it was.

    Raises:
        ExportError: There can be no file of that name.
    """
    unfinished = path.with_name(f"{path.name}.part")
    try:
        unfinished.touch()
    except OSError as error:
        if is_disk_full(error):
            raise
        raise ExportError(f"{path} cannot be written: {error.strerror}") from error
    try:
        yield unfinished
        with unfinished.open("rb") as file:
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
