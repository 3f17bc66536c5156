"""The full fault matrix: ``python -m tests.faults.full [ROW…]`` fills rows of docs/reference/faults.md.

With rows named, only those are run; the others keep the figures they have on the page. The page is written after each
row, so that what was measured stays when a later one is broken off. Ends with 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from testing.crawl_process import REPOSITORY
from testing.machine import machine, today
from tests.faults import table
from tests.faults.rows import ROWS, Entry
from tests.faults.table import Outcome, Row

PAGE = REPOSITORY / "docs" / "reference" / "faults.md"


def fill(entry: Entry) -> Row:
    """Run a row, and say so; one that cannot be run has not held."""
    print(f"{entry.name}: {entry.fault} …", file=sys.stderr, flush=True)
    try:
        outcome = entry.measure()
    except Exception as error:
        traceback.print_exc()
        outcome = Outcome(held=False, figure=f"{type(error).__name__}: {error}"[:200])
    print(f"{entry.name}: {'held' if outcome.held else 'BROKEN'}: {outcome.figure}", file=sys.stderr, flush=True)
    return Row(
        name=entry.name,
        fault=entry.fault,
        promise=entry.promise,
        figure=outcome.figure,
        test=entry.test,
        held=outcome.held,
        measured=today(),
    )


def write(filled: Row, entries: Sequence[Entry], path: Path) -> None:
    """Put one row into the page; rows that are no longer listed go."""
    known = table.read(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[filled.name] = filled
    page = table.render([known[entry.name] for entry in entries if entry.name in known], machine())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def main(names: Sequence[str], entries: Sequence[Entry] = ROWS, path: Path = PAGE) -> int:
    """Fill the rows and write the page."""
    broken = 0
    for entry in entries:
        if not names or entry.name in names:
            filled = fill(entry)
            write(filled, entries, path)
            broken += not filled.held
    return 1 if broken else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.full", description="Run faults and count.")
    known = [entry.name for entry in ROWS]
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these rows: {', '.join(known)}")
    wanted = parser.parse_args().rows
    if unknown := sorted(set(wanted) - set(known)):
        parser.error(f"no row is called {unknown[0]}; known rows: {', '.join(known)}")
    sys.exit(main(wanted))
