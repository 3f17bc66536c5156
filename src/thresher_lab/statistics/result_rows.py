"""Results as lines of JSON, in append-only files, so that a stopped run can continue."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""One result, by the names of its fields."""


def read_rows(path: Path) -> list[Row]:
    """Read the rows of earlier runs; a line that a crash cut short is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def add_rows(path: Path, rows: Iterable[Row]) -> None:
    """Add rows; after a line that a crash cut short, they start on a new line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = _is_torn(path)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" if torn else "")
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _is_torn(path: Path) -> bool:
    """Return whether a file ends within a line."""
    if not path.exists() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() != b"\n"
