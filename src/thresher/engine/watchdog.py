"""A watchdog: ends a worker that hangs, and marks the page that it hung on so that it is not retried.

Nothing inside a process can interrupt C code that does not return, so the kernel does: the event loop re-arms a CPU
timer again and again, and when the process has computed for long without that, a signal ends it. The supervisor starts
another worker. The URL of the page is in memory that both share, and is stored in the frontier, for all workers.
"""

from __future__ import annotations

import mmap
import signal
import struct
import tempfile
from collections.abc import Callable
from typing import BinaryIO

from thresher.frontier.base import SharedState
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Lease, ParsedPage
from thresher.urls.canonical import host_key

ARM_SECONDS = 1.0
TIMEOUT_SECONDS = 20.0
"""CPU time, so neither a busy machine nor a suspended worker counts as hanging."""

POISONED_SECONDS = 30 * 24 * 3600.0
REASON = Reason.of(ReasonKind.UNPARSABLE, "it stopped a worker")

_FATAL = frozenset({-signal.SIGPROF, -signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL, -signal.SIGFPE})
_SIZE = 4096
_LENGTH = struct.Struct(">H")

Parse = Callable[[str, bytes, str], ParsedPage]


def arm() -> None:
    """Start the timer again; its signal is not caught."""
    signal.setitimer(signal.ITIMER_PROF, TIMEOUT_SECONDS)


def disarm() -> None:
    """Stop the timer."""
    signal.setitimer(signal.ITIMER_PROF, 0.0)


class CurrentUrl:
    """The URL of the page that a worker parses, in memory shared with its supervisor.

    Args:
        file: Descriptor of an open file of `_SIZE` bytes, which the worker inherits.
    """

    def __init__(self, file: int) -> None:
        self._memory = mmap.mmap(file, _SIZE)

    def write(self, url: str) -> None:
        data = url.encode("utf-8", "replace")[: _SIZE - _LENGTH.size]
        self._memory[: _LENGTH.size + len(data)] = _LENGTH.pack(len(data)) + data

    def read(self) -> str:
        """Return the last URL; empty when there was none."""
        [length] = _LENGTH.unpack(self._memory[: _LENGTH.size])
        return self._memory[_LENGTH.size : _LENGTH.size + length].decode("utf-8", "replace")

    def recording(self, parse: Parse) -> Parse:
        """Wrap a parser so that it records each URL first."""

        def parse_recorded(url: str, body: bytes, content_type: str) -> ParsedPage:
            self.write(url)
            return parse(url, body, content_type)

        return parse_recorded


def shared_memory() -> BinaryIO:
    """Return a file for a `CurrentUrl`; it is deleted when the last process closes it."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the worker lives
    file.truncate(_SIZE)
    return file


async def mark_poisonous(frontier: SharedState, url: str, code: int | None) -> None:
    """Mark the page on which a worker crashed; the death of a worker that was killed is not due to a page."""
    if url and code in _FATAL:
        await frontier.put_state(host_key(url), _name(url), REASON.encoded, seconds=POISONED_SECONDS)


async def poison_reason(frontier: SharedState, lease: Lease) -> Reason:
    """Return why a page is not retried; none when it may be. Reads no state for the first try of a URL."""
    return stored_reason((lease.tries and await frontier.get_state(lease.host, _name(lease.url))) or "")


def _name(url: str) -> str:
    return f"broke {url}"
