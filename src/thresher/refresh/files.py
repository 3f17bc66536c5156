"""What a refresh leaves in the crawl's folder: the queue of visits, and a note of when it began."""

from __future__ import annotations

import json
from pathlib import Path

_SIDES = ("", "-wal", "-shm")


def queue_path(root: Path) -> Path:
    """Return where the visits wait."""
    return root / "refresh.db"


def remove_queue(root: Path) -> None:
    """Forget the visits of the last refresh."""
    for side in _SIDES:
        Path(f"{queue_path(root)}{side}").unlink(missing_ok=True)


def note_beginning(root: Path, at: float) -> None:
    """Write down when a refresh began."""
    beside = root / ".refresh.json.new"
    beside.write_text(json.dumps({"began": at}), encoding="utf-8")
    beside.replace(root / "refresh.json")


def last_beginning(root: Path) -> float | None:
    """Return when the last refresh began; None when there was none, or its note cannot be read."""
    try:
        return float(json.loads((root / "refresh.json").read_text(encoding="utf-8"))["began"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
