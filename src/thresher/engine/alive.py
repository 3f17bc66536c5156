"""A worker that stands still ends, and the page that it stood still at is not tried again.

Nothing inside a process can interrupt C code that does not return, so the kernel does: the loop winds a clock up again
and again, and when the process has computed for long without that, a signal ends it. The supervisor starts another
worker. Which page it was stands in memory that both share, and goes as a note to the frontier, for all workers.
"""

from __future__ import annotations

import mmap
import signal
import struct
import tempfile
from collections.abc import Callable
from typing import BinaryIO

from thresher.frontier.base import Frontier
from thresher.records import Lease, ParsedPage
from thresher.urls.host import host_key

BEAT_SECONDS = 1.0
STILL_SECONDS = 20.0
"""Processor time, so neither a busy machine nor a worker put to sleep counts as standing still."""

BLAMED_SECONDS = 30 * 24 * 3600.0
REASON = "cannot be parsed: it stopped a worker"

_FATAL = frozenset({-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL, -signal.SIGFPE})
_SIZE = 4096
_LENGTH = struct.Struct(">H")

Parse = Callable[[str, bytes, str], ParsedPage]


def beat() -> None:
    """Wind the clock up; its signal is caught by nobody."""
    signal.setitimer(signal.ITIMER_PROF, STILL_SECONDS)


def rest() -> None:
    """Stop the clock."""
    signal.setitimer(signal.ITIMER_PROF, 0.0)


class Note:
    """The URL of the page that a worker works on, in memory shared with its supervisor.

    Args:
        file: An open file of one page of memory; its number is handed to the worker.
    """

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, _SIZE)

    def write(self, url: str) -> None:
        """Note a URL."""
        data = url.encode("utf-8", "replace")[: _SIZE - _LENGTH.size]
        self._memory[: _LENGTH.size + len(data)] = _LENGTH.pack(len(data)) + data

    def read(self) -> str:
        """Return the last one; empty when there was none."""
        [length] = _LENGTH.unpack(self._memory[: _LENGTH.size])
        return self._memory[_LENGTH.size : _LENGTH.size + length].decode("utf-8", "replace")

    def noting(self, parse: Parse) -> Parse:
        """Let a parser note what it parses."""

        def parse_noted(url: str, body: bytes, content_type: str) -> ParsedPage:
            self.write(url)
            return parse(url, body, content_type)

        return parse_noted


def shared_memory() -> BinaryIO:
    """Return a file for a note; it goes with the last process that has it open."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker lives
    file.truncate(_SIZE)
    return file


async def blame(frontier: Frontier, url: str, code: int | None) -> None:
    """Note a page that a worker died of; a worker that was killed died of no page."""
    if url and code in _FATAL:
        await frontier.remember(host_key(url), _name(url), REASON, seconds=BLAMED_SECONDS)


async def blamed(frontier: Frontier, lease: Lease) -> str:
    """Say why a page is not tried again; empty when it may be. Costs nothing for a page that is new."""
    return (lease.tries and await frontier.recall(lease.host, _name(lease.url))) or ""


def _name(url: str) -> str:
    return f"broke {url}"
