"""A small web site on loopback, and the command line as a user types it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from testing.command_tree import check_json
from testing.commands import PROCESSES, called


@dataclass
class Site:
    """Pages by path; an entry is HTML, or (status, headers, body)."""

    port: int = 0
    pages: dict[str, str | tuple[int, dict[str, str], str | bytes]] = field(default_factory=dict)
    requests: list[tuple[float, str, dict[str, str]]] = field(default_factory=list)
    seconds: float = 0.0

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _ in self.requests]


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests.append((time.monotonic(), self.path, dict(self.headers)))
            time.sleep(site.seconds)
            page = site.pages.get(self.path, (404, {}, "not here"))
            status, headers, body = page if isinstance(page, tuple) else (200, {"Content-Type": "text/html"}, page)
            packed = body.encode() if isinstance(body, str) else body
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(packed)))
            self.end_headers()
            self.wfile.write(packed)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def serving():
    """Serve an empty site for as long as the block lasts."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(site))
    site.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def site():
    with serving() as site:
        yield site


@dataclass(frozen=True)
class CommandLine:
    """Runs commands in a folder; the answer has stdout, stderr and returncode."""

    folder: Path

    def __call__(self, *arguments: object, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a command; one that only looks or writes settings needs no process of its own."""
        if arguments[0] in PROCESSES:
            return self.apart(*arguments, timeout=timeout)
        return called(*arguments, folder=self.folder)

    def apart(self, *arguments: object, timeout: float = 60.0) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own, whatever it is."""
        command = [sys.executable, "-m", "thresher", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=timeout, env=environment, check=False
        )
        check_json([*map(str, arguments)], done.stdout)
        return done


@pytest.fixture
def thresher(tmp_path):
    """The command line, in an empty folder."""
    return CommandLine(tmp_path)


def quick(folder: Path, **sections: str) -> None:
    """Rewrite topic.yaml for a test: no delay, short leases."""
    path = folder / "topic.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    sections = {"politeness": "{delay_seconds: 0}", "engine": "{timeout_seconds: 2, lease_seconds: 8}", **sections}
    kept = [line for line in lines if line.partition(":")[0] not in sections]
    path.write_text(
        "\n".join([*kept, *(f"{key}: {value}" for key, value in sections.items())]) + "\n", encoding="utf-8"
    )
