"""The table of faults survived, as a page of the reference."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

HEAD = """# Faults survived

Written by `make faults`; do not edit. The figures come from the log of a witness, a web server in a process of its
own that writes down every request with its start and its end, and from the exported collection. "Lost" counts pages
that were never answered or are not in the collection; "open at once" and "gap" count every request, robots.txt
included. A gap runs from the moment before the last bytes of a response leave the witness to the moment it reads the
next request for the same host.

"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One fault: what was promised, what was measured, and whether the promise held."""

    name: str
    fault: str
    promise: str
    figure: str
    test: str
    held: bool


def machine() -> str:
    """Return where and when the figures were taken, without names or paths."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {memory:.0f} GiB RAM, "
        f"Python {platform.python_version()}, Scrapy {version('scrapy')}"
    )


def render(rows: Sequence[Row], measured_on: str) -> str:
    """Return the page."""
    lines = ["| row | fault | promise | held | figure | test |", "|---|---|---|---|---|---|"]
    for row in rows:
        cells = [row.name, row.fault, row.promise, "yes" if row.held else "**no**", row.figure, f"`{row.test}`"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return HEAD + "\n".join(lines) + f"\n\nMeasured {measured_on}.\n"
