"""All tests, in four lanes side by side: ``python -m tests.lanes [options of pytest]``.

One lane computes, the others mostly wait for processes, sockets and clocks; together they keep two cores busy. A lane's
output is printed when it ends. Tests that failed are run once more when all lanes have ended: many of them measure
time, and beside three other lanes a machine can be too slow for them. What fails then too, with nothing beside it, has
failed. Ends with 1 when a test has.
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
    "faults": ["faults", "screens"],
    "crawls": ["e2e", "realweb"],
    "computes": ["contract", "servers", "unit"],
    "releases": ["consistency", "docs", "release"],
}
LOOK_SECONDS = 0.2
TESTS_FAILED = 1
"""pytest's exit code when tests failed; others mean that it could not run them."""


@dataclass(frozen=True)
class Lane:
    """A pytest of its own, and the file that it writes to."""

    name: str
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    began: float

    def tell(self) -> None:
        """Print its output, and how long it took."""
        self.output.seek(0)
        sys.stdout.buffer.write(self.output.read())
        print(
            f"lane {self.name}: exit code {self.process.returncode}, {time.monotonic() - self.began:.0f} s", flush=True
        )


def start(name: str, options: Sequence[str]) -> Lane:
    """Begin a lane."""
    output = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the lane
    folders = [str(TESTS / folder) for folder in LANES[name]]
    command = [sys.executable, "-m", "pytest", *folders, "-o", f"cache_dir=.pytest_cache/{name}", *options]
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
    codes = finish([start(name, options) for name in LANES])
    for name in [name for name, code in codes.items() if code == TESTS_FAILED]:
        print(f"lane {name}: its failed tests once more, with nothing beside them", flush=True)
        codes |= finish([start(name, ["--last-failed", *options])])
    return int(any(codes.values()))


def finish(running: list[Lane]) -> dict[str, int]:
    """Wait for lanes and print their output; return their exit codes."""
    codes: dict[str, int] = {}
    try:
        while running:
            time.sleep(LOOK_SECONDS)
            for lane in [lane for lane in running if lane.process.poll() is not None]:
                running.remove(lane)
                lane.tell()
                lane.output.close()
                codes[lane.name] = lane.process.returncode
    finally:
        for lane in running:
            lane.process.terminate()
            lane.process.wait()
            lane.tell()
    return codes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
