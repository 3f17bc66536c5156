"""What an experiment has to say: tables, verdicts and notes, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from thresher.lab.reproduce.claims import Finding
from thresher.lab.statistics import Interval

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Figures under headings; the paper's own stand in columns that say so."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, kw_only=True)
class Report:
    """An experiment in figures.

    Args:
        name: Its number, such as ``E1``.
        title: What it asks.
        tables: Our figures beside the paper's.
        findings: A verdict on every claim.
        notes: What must be known to read it: what was cut, what is missing.
    """

    name: str
    title: str
    tables: Sequence[Table] = ()
    findings: Sequence[Finding] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def with_interval(interval: Interval, *, scale: float = 1.0, digits: int = 1, sign: str = "") -> str:
    """Write a mean and its interval."""
    low, mean, high = (f"{scale * value:{sign}.{digits}f}" for value in (interval.low, interval.mean, interval.high))
    return f"{mean} [{low}, {high}]"


PARTS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Of a budget, after which curves are shown."""


def curve_table(title: str, curves: Mapping[str, Mapping[str, Sequence[float]]], *, scale: float = 100.0) -> Table:
    """Show the mean over topics of some strategies' curves, after parts of the budget."""
    rows: list[list[Cell]] = [
        [name, *(scale * mean(curve[max(int(part * len(curve)), 1) - 1] for curve in own.values()) for part in PARTS)]
        for name, own in curves.items()
        if own
    ]
    return Table(title=title, columns=["strategy", *(f"{part:.0%}" for part in PARTS)], rows=rows)


def written(cell: Cell) -> str:
    """Write a cell; what is not there is empty."""
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell


def markdown(report: Report, *, level: int = 2) -> Iterator[str]:
    """Write a report as lines of Markdown."""
    yield from (f"{'#' * level} {report.name}: {report.title}", "")
    for table in report.tables:
        yield from (f"{table.title}", "", _line(table.columns), _line(["---"] * len(table.columns)))
        yield from (_line([written(cell) for cell in row]) for row in table.rows)
        yield ""
    if report.findings:
        yield from (_line(["claim", "verdict", "why"]), _line(["---"] * 3))
        yield from (_line([finding.claim, f"**{finding.verdict}**", finding.reason]) for finding in report.findings)
        yield ""
    if report.notes:
        yield from (f"- {note}" for note in report.notes)
        yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
