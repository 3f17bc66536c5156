"""A clock that nobody can set: what the machine's time was when the file was first opened since its start, and what has
passed since.

All processes of a machine agree on it, however its wall clock is set meanwhile: no wait grows shorter, no lease ends
early.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

_START_OF_MACHINE = Path("/proc/sys/kernel/random/boot_id")


def steady_clock(db: sqlite3.Connection) -> Callable[[], float]:
    """Return the clock of a frontier file; where the machine does not tell its starts apart, its wall clock."""
    try:
        start = _START_OF_MACHINE.read_text(encoding="ascii").strip()
    except OSError:
        return time.time
    with db:
        db.execute("BEGIN IMMEDIATE")
        kept = db.execute("SELECT began FROM clock WHERE start = ?", [start]).fetchone()
        began = kept[0] if kept else time.time() - _since_start()
        if not kept:
            db.execute("DELETE FROM clock")
            db.execute("INSERT INTO clock (start, began) VALUES (?, ?)", [start, began])
    return lambda: began + _since_start()


def kept_clock(db: sqlite3.Connection) -> Callable[[], float]:
    """Return the same clock to one who only reads; the wall clock while nobody works on the file."""
    try:
        start = _START_OF_MACHINE.read_text(encoding="ascii").strip()
    except OSError:
        return time.time
    kept = db.execute("SELECT began FROM clock WHERE start = ?", [start]).fetchone()
    if not kept:
        return time.time
    began: float = kept[0]
    return lambda: began + _since_start()


def _since_start() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
