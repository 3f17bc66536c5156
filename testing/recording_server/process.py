"""Start and stop the recording server from a test."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from testing.recording_server import places
from testing.recording_server.data import write_script
from testing.recording_server.log import Hit, read_log
from testing.recording_server.report import Report, report
from testing.recording_server.script import Script
from testing.recording_server.server import CONTROL_ADDRESS
from testing.recording_server.site import Site

REPOSITORY = Path(__file__).parents[2]
STOP_SECONDS = 10.0
SETTLE_SECONDS = 0.5
"""How long `hits` waits for requests that are about to end."""


@dataclass(frozen=True)
class Recorder:
    """A running recording server."""

    site: Site | None
    port: int
    log: Path
    tls_port: int = 0
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def seed_url(self) -> str:
        """The page of the site from which all others can be reached."""
        assert self.site is not None, "this recording server has a script only"
        return self.site.url(0, self.port)

    @property
    def connect_to(self) -> dict[str, str]:
        """What ``network.connect_to`` must say so that a crawl finds the names of the script."""
        return places.connect_to(dict(self.places), self.port, self.tls_port) if self.places else {}

    def url(self, host: str, path: str = "/", *, scheme: str = "http") -> str:
        """Return the URL of a path on a host of the script; one given by its address needs the port."""
        port = f":{self.tls_port if scheme == 'https' else self.port}" if places.is_address(host) else ""
        return f"{scheme}://{host}{port}{path}"

    def ended(self) -> int:
        """Return how many requests have ended so far."""
        return self._control("/count")["ended"]

    def hits(self, host: str | None = None, path: str | None = None) -> list[Hit]:
        """Return every request that has ended so far, in the order of their starts; to one host or path if asked."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._control("/flush")["open"] and time.monotonic() < deadline:
            time.sleep(0.01)
        found = read_log(self.log)
        return [hit for hit in found if host in (None, hit.host) and path in (None, hit.path)]

    def report(self, delay_seconds: float = 0.0, *, by_address: bool = False) -> Report:
        """Return how politely the hosts were treated, or the addresses that they share."""
        return report(self.hits(), delay_seconds, by_address=by_address)

    def _control(self, path: str) -> dict[str, int]:
        connection = HTTPConnection(CONTROL_ADDRESS, self.port, timeout=STOP_SECONDS)
        try:
            connection.request("GET", path)
            reported: dict[str, int] = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        return reported


@contextmanager
def running(site: Site, log: Path, *options: str) -> Iterator[Recorder]:
    """Serve a site on a free port for as long as the block lasts; options as of its command line."""
    with _serving([f"--log={log}", *_site_options(site), *options]) as reported:
        yield Recorder(site, reported["port"], log)


@contextmanager
def recorder(script: Script, *options: str, site: Site | None = None, one_address: bool = False) -> Iterator[Recorder]:
    """Serve a script in a process of its own for as long as the block lasts, and a site beside it when there is one.

    Args:
        options: As of ``python -m testing.recording_server``.
        one_address: All names of the script share an address; else each has its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "script.json", Path(folder) / "hits.csv"
        write_script(script, path)
        more = [*_site_options(site), *(["--one-address"] if one_address else []), *options]
        with _serving([f"--log={log}", f"--script={path}", *more]) as reported:
            yield Recorder(site, reported["port"], log, reported["tls_port"], reported["places"])


def _site_options(site: Site | None) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in asdict(site).items()] if site else []


@contextmanager
def _serving(options: Sequence[str]) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "testing.recording_server", "--until-stdin-ends", *options]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield _start_report(process)
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _start_report(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()  # ends with the process, if that fails to start
    if not line:
        raise RuntimeError(f"the recording server did not start: exit code {process.wait(STOP_SECONDS)}")
    reported: dict[str, Any] = json.loads(line)
    return reported
