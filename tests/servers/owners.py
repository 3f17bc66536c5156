"""Whose connection is it: the process at the other end of a TCP connection on loopback, by what /proc tells."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

ADDRESS_COLUMN, INODE_COLUMN = 1, 9


def owner(port: int) -> int | None:
    """Return the process that dialled from a local port; None when it has gone or is not ours to see."""
    inode = _inode(port)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and _holds(process / "fd", wanted):
            return int(process.name)
    return None


def _inode(port: int) -> str | None:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        if int(columns[ADDRESS_COLUMN].partition(":")[2], 16) == port:
            return columns[INODE_COLUMN]
    return None


def _holds(folder: Path, wanted: str) -> bool:
    with suppress(OSError):  # a process that has just ended
        for entry in os.scandir(folder):
            with suppress(OSError):
                if os.readlink(entry.path) == wanted:
                    return True
    return False
