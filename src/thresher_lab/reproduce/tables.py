"""The report of an experiment: tables, verdicts and notes, as text and as Markdown.

The page of all experiments for the documentation, made from their rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean

from thresher_lab.reproduce.claims import ClaimResult, Verdict
from thresher_lab.statistics.significance import Interval

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Figures under headings; those of the paper are in columns named so."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, kw_only=True)
class ExperimentReport:
    """An experiment in figures.

    Args:
        name: Its number, such as ``E1``.
        title: Its question.
        tables: Our figures beside the paper's.
        findings: A verdict on every claim.
        notes: Remarks: what was cut, what is missing.
    """

    name: str
    title: str
    tables: Sequence[Table] = ()
    findings: Sequence[ClaimResult] = ()
    notes: Sequence[str] = field(default_factory=tuple)


def with_interval(interval: Interval, *, scale: float = 1.0, digits: int = 1, sign: str = "") -> str:
    """Format a mean and its interval."""
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
    """Format a cell; None is empty."""
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell


def markdown(report: ExperimentReport, *, level: int = 2) -> Iterator[str]:
    """Return a report as lines of Markdown."""
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


_TITLE = "# The papers' experiments, here\n"
_INTRODUCTION = """\
This page is written from the rows of the runs by

<!-- not run: rewrites this page -->
```console
$ thresher lab reproduce all --report -o bench/results/reproduce --page docs/measurements/reproduction.md
```

The papers ran on the live web of their year. These are frozen and generated webs, where a crawl can be repeated and
what it missed is known. So the order of crawlers and their distance can be reproduced, but not the figures themselves.

A claim *a > b* has one of four verdicts:

- It **holds** when the mean over topics of a is higher at every portion of the crawls, and the 95 % interval of the
  difference of the curves' means excludes 0. Topics are drawn with replacement.
- It **holds in part** when a is ahead on average, but not at every portion or not beyond chance. The same holds when
  only a part of a longer order is confirmed.
- It **does not hold here** otherwise, and whenever its headline fails: the paper's own crawler is not the best on
  average.
- It is **not tested** on a web that lacks what it depends on, such as URLs that spell labels.

Curves are compared by their averages and not by their ends, because on a frozen web all crawls may find everything in
the end. [Why claims do not hold](strategies.md#why-claims-of-the-papers-do-not-hold-here).
"""


def reproduction_page(reports: Sequence[ExperimentReport], remarks: str = "") -> str:
    """Return the page: a conclusion, remarks on its rows, the verdicts on all claims, then every experiment."""
    introduction = [_TITLE, f"{_conclusion(reports)}\n", _INTRODUCTION]
    lines = [*introduction, *([f"{remarks.strip()}\n"] if remarks else []), *_summary(reports)]
    for report in reports:
        lines += markdown(report)
    return "\n".join(lines).rstrip() + "\n"


def _conclusion(reports: Sequence[ExperimentReport]) -> str:
    counts = Counter(finding.verdict for report in reports for finding in report.findings)
    return (
        f"Of {counts.total()} claims of the papers {counts[Verdict.HOLDS]} hold, {counts[Verdict.IN_PART]} hold in "
        f"part, {counts[Verdict.FAILS]} do not hold here and {counts[Verdict.UNTESTED]} were not tested."
    )


def _summary(reports: Sequence[ExperimentReport]) -> Iterator[str]:
    yield from (f"| experiment | {' | '.join(Verdict)} |", f"|---|{'---|' * len(Verdict)}")
    for report in reports:
        counts = Counter(finding.verdict for finding in report.findings)
        yield f"| {report.name}: {report.title} | {' | '.join(str(counts[verdict] or '') for verdict in Verdict)} |"
    yield ""
