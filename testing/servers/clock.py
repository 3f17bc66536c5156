"""A wall clock that a test can step while others read it: that of a store, of workers, or of all of them.

Time namespaces shift only monotonic clocks, and ready-made libraries clash with the store's allocator, so this is a
page of C, compiled when it is needed.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock_steps.c")


def can_step_clocks() -> bool:
    """Whether there is a compiler."""
    return shutil.which("cc") is not None


class Clock:
    """A clock in a folder; processes that get its `environment` read it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "shift"
        self._file.write_bytes(bytes(8))
        self._library = folder / "clock_steps.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(self._library), str(SOURCE)], check=True)

    @property
    def environment(self) -> dict[str, str]:
        """What a process must be given."""
        return {"LD_PRELOAD": str(self._library), "THRESHER_TEST_CLOCK": str(self._file)}

    def step_to(self, seconds: float) -> None:
        """Let the clock be ahead of the true time by `seconds`; behind it when negative."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", int(seconds * 1e9)))
