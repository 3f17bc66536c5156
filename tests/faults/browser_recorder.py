"""A record of every connection that a Chromium asks for, by the same page of C before libc as for crawls.

What would leave this machine is refused there and then, after it was written down.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testing.screens.browser import CHROMIUM
from tests.faults.recorder import Record, connects_library


@dataclass(frozen=True)
class RecordedBrowser:
    """A Chromium that tells where it connects.

    Args:
        executable: What to run in its place.
    """

    executable: Path
    record: Record


def can_record() -> bool:
    """Whether there is a browser, and a compiler."""
    return CHROMIUM is not None and shutil.which("cc") is not None


@contextmanager
def recorded_browser() -> Iterator[RecordedBrowser]:
    """Make a browser that records, for as long as the block lasts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record, program = folder / "record.txt", folder / "chromium"
        record.touch()
        program.write_text(
            f'#!/bin/sh\nLD_PRELOAD={connects_library()} THRESHER_TEST_CONNECTS={record} exec {CHROMIUM} "$@"\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
        yield RecordedBrowser(program, Record(record))
