"""Whose connection is it: the process at the other end of a TCP connection on loopback, by what /proc tells."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

NEAR_COLUMN, FAR_COLUMN, INODE_COLUMN = 1, 2, 9


def owner(port: int, *, dialled: int) -> int | None:
    """Return the process that dialled a port from one of its own; None when it has gone or is not ours to see."""
    inode = _inode(port, dialled)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and _holds(process / "fd", wanted):
            return int(process.name)
    return None


def _inode(near: int, far: int) -> str | None:
    """Find a connection by both its ports: one of them alone may belong to several."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if (_port(columns[NEAR_COLUMN]), _port(columns[FAR_COLUMN])) == (near, far):
            return columns[INODE_COLUMN]
    return None


def _port(address: str) -> int:
    return int(address.partition(":")[2], 16)


def _holds(folder: Path, wanted: str) -> bool:
    with suppress(OSError):  # a process that has just ended
        for entry in os.scandir(folder):
            with suppress(OSError):
                if os.readlink(entry.path) == wanted:
                    return True
    return False
