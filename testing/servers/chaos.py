"""Put a bad network in front of a store, in a process of its own, and change it from a test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from testing.servers.bad_network import ADDRESS, Counts, Weather

REPOSITORY = Path(__file__).parents[2]
END_SECONDS = 10.0


class ChaosProxy:
    """A bad network that runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.port: int = self._answer()["port"]

    @property
    def url(self) -> str:
        """Where the store is found behind it."""
        return f"redis://{ADDRESS}:{self.port}/0"

    def set(self, **weather: Any) -> Counts:
        """Make the weather as a `Weather` of these values says; without any it is fine again."""
        return self._order(asdict(Weather(**weather)))

    def counts(self) -> Counts:
        """Return what has come through so far."""
        return self._order({})

    def _order(self, order: dict[str, Any]) -> Counts:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._process.stdin.flush()
        return Counts(**self._answer())

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()  # ends with the process
        if not line:
            raise RuntimeError(f"the proxy has ended with {self._process.wait(END_SECONDS)}")
        reported: dict[str, Any] = json.loads(line)
        return reported


@contextmanager
def chaos(port: int) -> Iterator[ChaosProxy]:
    """Run a proxy before a port for as long as the block lasts; at first the weather is fine."""
    command = [sys.executable, "-m", "testing.servers.proxy", str(port)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield ChaosProxy(process)
        finally:
            process.kill()
            process.wait(END_SECONDS)
