"""Find and kill the processes of a crawl, by what /proc tells."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

HELPERS = (b"multiprocessing.resource_tracker", b"multiprocessing.forkserver")
"""Processes that Python starts for its own use; what they start in turn are workers again."""


def children(pid: int) -> list[int]:
    """Return the living children of a process; zombies are not alive."""
    found: list[int] = []
    with contextlib.suppress(OSError):  # the process has just ended
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):  # a thread that has just ended
                found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return [child for child in found if is_alive(child)]


def workers(pid: int) -> list[int]:
    """Return the worker processes of a run."""
    return sorted(_workers(pid))


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it, parents first."""
    return [pid, *(member for child in children(pid) for member in family(child))]


def kill(pid: int) -> bool:
    """Send SIGKILL; False when the process was gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_family(pid: int) -> list[int]:
    """Send SIGKILL to a process, then to all that descend from it; return who they were."""
    members = family(pid)
    for member in members:  # the first one first, lest it starts others
        kill(member)
    return members


def kill_group(pid: int) -> None:
    """Send SIGKILL to all that is left of the process group that a process was started to lead."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def _workers(pid: int) -> Iterator[int]:
    for child in children(pid):
        if any(name in _command_line(child) for name in HELPERS):
            yield from _workers(child)
        else:
            yield child


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
