"""Parsing in a child process, for pages that could take too long or too much memory.

A parser written in C cannot be interrupted from within its process. So a heavy page is parsed by a child process, which
the kernel stops when it exceeds its CPU time or memory; the next heavy page gets a new one. All other pages, by far the
most, are parsed in the worker itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from thresher.errors import ThresherError
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Link, ParsedPage, UsageSignal

HEAVY_BYTES = 1 << 18
"""Below this size, the worst page that `markup` lets through takes a second."""

MAX_CPU_SECONDS = 2.0
MAX_MEMORY_BYTES = 1 << 30
MAX_SECONDS = 10.0
"""Timeout of one page, in wall-clock time."""
TURN_SECONDS = 5.0
"""Timeout of the lock."""
START_SECONDS = 30.0

_RUN = "from thresher.parsing.isolated import main; main()"
_LENGTHS = struct.Struct(">III")
_LENGTH = struct.Struct(">I")


class Unparsable(ThresherError):
    """A page that cannot be parsed within the limits.

    Args:
        why: What is wrong with it.
        final: Whether a retry would fail too.
    """

    def __init__(self, why: str, *, final: bool) -> None:
        self.reason = Reason.of(ReasonKind.UNPARSABLE, why)
        super().__init__(str(self.reason))
        self.why = why
        self.final = final


def is_heavy(body: bytes) -> bool:
    """Return whether a page should be parsed in a child process."""
    return len(body) > HEAVY_BYTES


@dataclass(frozen=True, kw_only=True)
class ProcessLimits:
    """Limits of one request to a child process.

    Args:
        seconds: Timeout in wall-clock time.
        cpu_seconds: CPU time after which the kernel ends the child, by a timer that the child sets.
        turn_seconds: Timeout of the lock: the child answers one request at a time.
    """

    seconds: float
    cpu_seconds: float
    turn_seconds: float


class IsolatedProcess:
    """A child process that parses, started for the first request and restarted after a crash.

    Args:
        command: The command of the child.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._child: subprocess.Popen[bytes] | None = None
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="parser")

    async def request(self, parts: Sequence[bytes], limits: ProcessLimits) -> bytes:
        """Send three parts to the child and return its response, without blocking the event loop.

        Raises:
            Unparsable: The child exceeded a limit.
        """
        try:
            await asyncio.wait_for(self._turn.acquire(), limits.turn_seconds)
        except TimeoutError:
            raise Unparsable("too many heavy pages at once", final=False) from None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._request, parts, limits)
        finally:
            self._turn.release()

    def close(self) -> None:
        self._thread.shutdown()
        self._end()

    def _request(self, parts: Sequence[bytes], limits: ProcessLimits) -> bytes:
        child = self._started()
        answer = _Exchange(child, time.monotonic() + limits.seconds).answer(_LENGTHS.pack(*map(len, parts)), *parts)
        if answer is None:
            self._end()
            raise Unparsable(f"more than {limits.seconds:g} s", final=False)
        if not answer:
            code = self._end()
            is_slow = code == -signal.SIGPROF
            raise Unparsable(f"more than {limits.cpu_seconds:g} s" if is_slow else "the parser broke down", final=True)
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self._end()
            self._child = subprocess.Popen(  # noqa: S603 - ourselves
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            if not _Exchange(self._child, time.monotonic() + START_SECONDS).answer():
                self._end()
                raise Unparsable("the parser does not start", final=False)
        return self._child

    def _end(self) -> int:
        """End the child, and return its exit code; one that has already exited gets a moment to be reaped."""
        child, self._child = self._child, None
        if child is None:
            return 0
        assert child.stdin
        assert child.stdout
        child.stdin.close()
        try:
            code = child.wait(0.5)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        child.stdout.close()
        return code


class ParserProcess(IsolatedProcess):
    """A child process that parses HTML.

    Args:
        command: The command of the child; another one in tests.
    """

    def __init__(self, command: Sequence[str] = (sys.executable, "-c", _RUN)) -> None:
        super().__init__(command)

    async def parse(self, url: str, body: bytes, content_type: str = "") -> ParsedPage:
        """Parse a page without blocking the event loop.

        Raises:
            Unparsable: It exceeded a limit.
        """
        limits = ProcessLimits(seconds=MAX_SECONDS, cpu_seconds=MAX_CPU_SECONDS, turn_seconds=TURN_SECONDS)
        answer = await self.request([url.encode(), content_type.encode("utf-8", "replace"), body], limits)
        return _page(json.loads(answer.decode("utf-8", "surrogatepass")))


class _Exchange:
    """One request to the child and its response, with a deadline."""

    def __init__(self, child: subprocess.Popen[bytes], deadline: float) -> None:
        assert child.stdin
        assert child.stdout
        self._to, self._from = child.stdin.fileno(), child.stdout.fileno()
        os.set_blocking(self._to, False)
        self._deadline = deadline

    def answer(self, *request: bytes) -> bytes | None:
        """Return the response; empty when the child has died, None after the deadline."""
        try:
            for part in request:
                self._send(part)
            [size] = _LENGTH.unpack(self._receive(_LENGTH.size))
            return self._receive(size)
        except TimeoutError:
            return None
        except (EOFError, BrokenPipeError):
            return b""

    def _send(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            self._wait(write=True)
            left = left[os.write(self._to, left[: 1 << 16]) :]

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait(write=False)
            piece = os.read(self._from, min(1 << 16, size - len(data)))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def _wait(self, *, write: bool) -> None:
        seconds = max(0.0, self._deadline - time.monotonic())
        ready = select.select([] if write else [self._from], [self._to] if write else [], [], seconds)
        if not any(ready):
            raise TimeoutError


def _page(fields: dict[str, Any]) -> ParsedPage:
    fields["links"] = tuple(Link(*link) for link in fields["links"])
    fields["signals"] = tuple(UsageSignal(*each) for each in fields["signals"])
    for name in ("headings", "blocks", "opt_outs", "feeds"):
        fields[name] = tuple(fields[name])
    return ParsedPage(**fields)


def main() -> None:
    """Parse the pages on standard input until it ends."""
    from thresher.parsing.html import parse

    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    parse("http://a.example/", b"<p>Everything that is needed is loaded by now.</p>")

    def answer(url: bytes, content_type: bytes, body: bytes) -> bytes:
        signal.setitimer(signal.ITIMER_PROF, MAX_CPU_SECONDS)
        page = parse(url.decode(), body, content_type.decode())
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        return json.dumps(asdict(page), ensure_ascii=False).encode("utf-8", "surrogatepass")

    serve(answer)


def serve(answer: Callable[[bytes, bytes, bytes], bytes]) -> None:
    """Answer the requests on standard input until it ends; to be called in the child.

    Args:
        answer: Makes a response of three parts. It should set ITIMER_PROF, whose signal is not caught and ends the
            process.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, responses = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    _send_message(responses, b"ready")
    while lengths := requests.read(_LENGTHS.size):
        response = answer(*(requests.read(length) for length in _LENGTHS.unpack(lengths)))
        _send_message(responses, response)


def _send_message(responses: Any, response: bytes) -> None:
    responses.write(_LENGTH.pack(len(response)) + response)
    responses.flush()
