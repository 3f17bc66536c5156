"""The full fault matrix: ``python -m tests.faults.full [ROW…]`` writes docs/reference/faults.md.

With rows named, only those are run and the page goes to standard output. Ends with 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.faults.crawl import REPOSITORY
from tests.faults.figures import figures
from tests.faults.rows import ROWS, KillRow
from tests.faults.scenario import observe
from tests.faults.table import Row, machine, render

PAGE = REPOSITORY / "docs" / "reference" / "faults.md"


def fill(row: KillRow) -> Row:
    """Carry out a row's plan, and say so."""
    print(f"{row.name}: {row.fault} …", file=sys.stderr, flush=True)
    filled = row.fill(figures(row.plan, observe(row.plan)))
    print(f"{row.name}: {'held' if filled.held else 'BROKEN'}: {filled.figure}", file=sys.stderr, flush=True)
    return filled


def main(names: Sequence[str]) -> int:
    """Fill the rows and write the page."""
    filled = [fill(row) for row in ROWS if not names or row.name in names]
    page = render(filled, machine())
    if names:
        print(page)
    else:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page, encoding="utf-8")
    return 0 if all(row.held for row in filled) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.full", description="Kill the crawler and count.")
    known = [row.name for row in ROWS]
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these rows: {', '.join(known)}")
    wanted = parser.parse_args().rows
    if unknown := sorted(set(wanted) - set(known)):
        parser.error(f"no row is called {unknown[0]}; known rows: {', '.join(known)}")
    sys.exit(main(wanted))
