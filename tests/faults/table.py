"""The table of faults survived, as a page of the reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.consistency.rows import ROWS, checks_of

COLUMNS = 7
HEAD = """# Faults survived

Written by `make faults`; do not edit. The figures come from two sources: the log of a recording server, and the
exported collection. The recording server is a web server in a process of its own that logs every request with its start
and its end. "Lost" counts pages that were never answered or are not in the collection. "Open at once" and "gap" count
every request, robots.txt included. A gap starts before the last bytes of a response leave the recording server, and
ends when it reads the next request for the same host. Rows are run all together or one by one; each has its date.

In rows R3 to R7, R10, R11 and those that end in `-redis` the frontier is on a real Redis server, in a process of its
own. A proxy before it is slow, breaks connections or blocks everything, on command. "Counted twice" counts pages that
the store counts beyond the existing ones, or that are in the collection twice. "Without trouble" counts pages fetched
twice that no fault explains.

"""


REPORTS = """## Reports that are checked

What commands, screens and APIs report is a promise too. Rows U are what a user meets, rows A what an operator or an
adversary meets; each was broken once. The tests run with `make check`.

"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What filling a row brings: whether the promise held, and the figure that shows it."""

    held: bool
    figure: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One fault: what was promised, what was measured and when, and whether the promise held."""

    name: str
    fault: str
    promise: str
    figure: str
    test: str
    held: bool
    measured: str


def render(rows: Sequence[Row], measured_on: str) -> str:
    """Return the page."""
    lines = ["| row | fault | promise | held | figure | test | measured |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        held = "yes" if row.held else "**no**"
        cells = [row.name, row.fault, row.promise, held, row.figure, f"`{row.test}`", row.measured]
        lines.append("| " + " | ".join(map(_cell, cells)) + " |")
    return HEAD + "\n".join(lines) + f"\n\n{reports()}\nLast written {measured_on}.\n"


def reports() -> str:
    """Return the section on what the product reports, and which tests check it."""
    lines = ["| row | promise | tests |", "|---|---|---|"]
    lines += [
        f"| {row} | {promise} | {'<br>'.join(f'`{name}`' for name in checks_of(row))} |"
        for row, promise in ROWS.items()
    ]
    return REPORTS + "\n".join(lines) + "\n"


def with_reports(page: str) -> str:
    """Return a page that was rendered earlier, with the section on reports as it is now."""
    faults, _, rest = page.partition(REPORTS)
    faults, _, last = (faults if rest else page).partition("\nLast written ")
    last = last or rest.partition("\nLast written ")[2]
    return f"{faults.rstrip()}\n\n{reports()}\nLast written {last}"


def read(page: str) -> dict[str, Row]:
    """Return the rows of a page that was rendered earlier, by name."""
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == COLUMNS and cells[0] not in {"row", "---"}:
            name, fault, promise, held, figure, test, measured = cells
            rows[name] = Row(
                name=name,
                fault=fault,
                promise=promise,
                figure=figure,
                test=test.strip("`"),
                held=held == "yes",
                measured=measured,
            )
    return rows


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
