"""Start and stop the witness from a test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests.witness.log import Hit, read_log
from tests.witness.server import CONTROL_ADDRESS
from tests.witness.site import Site

REPOSITORY = Path(__file__).parents[2]
STOP_SECONDS = 10.0


@dataclass(frozen=True)
class Witness:
    """A running witness."""

    site: Site
    port: int
    log: Path

    @property
    def seed_url(self) -> str:
        """The page from which all others can be reached."""
        return self.site.url(0, self.port)

    def ended(self) -> int:
        """Return how many requests have ended so far."""
        return self._control("/count")["ended"]

    def hits(self) -> list[Hit]:
        """Return every request that has ended so far."""
        self._control("/flush")
        return read_log(self.log)

    def _control(self, path: str) -> dict[str, int]:
        connection = HTTPConnection(CONTROL_ADDRESS, self.port, timeout=STOP_SECONDS)
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


@contextmanager
def running(site: Site, log: Path, *options: str) -> Iterator[Witness]:
    """Serve a site on a free port for as long as the block lasts; options as of ``python -m tests.witness``."""
    command = [sys.executable, "-m", "tests.witness", "--until-stdin-ends", f"--log={log}", *options]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in asdict(site).items()]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Witness(site, _port(process), log)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _port(process: subprocess.Popen[bytes]) -> int:
    assert process.stdout is not None
    line = process.stdout.readline()  # ends with the process, if that fails to start
    if not line:
        raise RuntimeError(f"the witness did not start: exit code {process.wait(STOP_SECONDS)}")
    return json.loads(line)["port"]
