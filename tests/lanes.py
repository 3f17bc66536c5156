"""All tests, in four lanes side by side: ``python -m tests.lanes [options of pytest]``.

One lane computes, the others mostly wait for processes, sockets and clocks; together they keep two cores busy. A lane's
output is printed when it ends. Ends with 1 when a lane has failed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TESTS = Path(__file__).parent
LANES = {
    "faults": ["faults"],
    "crawls": ["e2e", "screens"],
    "computes": ["contract", "servers", "unit"],
    "releases": ["consistency", "docs", "release"],
}
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Lane:
    """A pytest of its own, and the file that it writes to."""

    name: str
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    began: float

    def tell(self) -> None:
        """Print what it said, and how long it took."""
        self.output.seek(0)
        sys.stdout.buffer.write(self.output.read())
        print(
            f"lane {self.name}: exit code {self.process.returncode}, {time.monotonic() - self.began:.0f} s", flush=True
        )


def start(name: str, options: Sequence[str]) -> Lane:
    """Begin a lane."""
    output = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the lane
    folders = [str(TESTS / folder) for folder in LANES[name]]
    command = [sys.executable, "-m", "pytest", *folders, *options]
    process = subprocess.Popen(command, cwd=TESTS.parent, stdout=output, stderr=subprocess.STDOUT)
    return Lane(name, process, output, time.monotonic())


def left_out() -> set[str]:
    """Return the folders with tests that no lane runs."""
    there = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    return there - {folder for folders in LANES.values() for folder in folders}


def main(options: Sequence[str]) -> int:
    """Run all lanes; leave nothing running, whatever happens."""
    if folders := left_out():
        raise SystemExit(f"no lane runs {', '.join(sorted(folders))}; add it to tests/lanes.py")
    running = [start(name, options) for name in LANES]
    failed = 0
    try:
        while running:
            time.sleep(LOOK_SECONDS)
            for lane in [lane for lane in running if lane.process.poll() is not None]:
                running.remove(lane)
                lane.tell()
                lane.output.close()
                failed |= lane.process.returncode != 0
    finally:
        for lane in running:
            lane.process.terminate()
            lane.process.wait()
            lane.tell()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
