"""The report of an experiment: tables, verdicts and notes, as text and as Markdown; and the page of all claims."""

from __future__ import annotations

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


def markdown(report: ExperimentReport) -> str:
    """Return a report as a page of Markdown."""
    return "\n".join(_markdown(report)).rstrip() + "\n"


def _markdown(report: ExperimentReport) -> Iterator[str]:
    yield from (f"# {report.name}: {report.title}", "")
    for table in report.tables:
        yield from (f"{table.title}", "", _line(table.columns), _line(["---"] * len(table.columns)))
        yield from (_line([written(cell) for cell in row]) for row in table.rows)
        yield ""
    if report.findings:
        yield from (_line(["claim", "where", "verdict", "why", "oracle"]), _line(["---"] * 5))
        for one in report.findings:
            yield _line([one.claim, one.place, f"**{one.verdict}**", one.reason, written(one.ceiling)])
        yield ""
    if report.notes:
        yield from (f"- {note}" for note in report.notes)
        yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


_INTRODUCTION = """\
# The papers' experiments, here

This page says where each claim of the papers holds, where it fails, and why. {conclusion}

<!-- not run: rewrites this page -->
```console
$ thresher lab reproduce all --report -o bench/results/reproduce --page docs/measurements/reproduction.md
```

writes this page and, beside the rows in `bench/results/reproduce`, the tables of each experiment (`E1.md` to `E10.md`).
Without `--report` the command makes the rows that are missing.

The papers crawled the live web of their year. These webs are frozen or generated: a crawl can be repeated, and what it
missed is known. So orders and distances can be compared, and not the figures themselves. A claim *a > b* has one of
four verdicts on each web:

- **holds**: the mean over topics of a is higher at every portion of the crawls, and the 95 % interval of the difference
  of the curves' means excludes 0;
- **in part**: a is ahead on average, but not at every portion or not beyond chance, or only a part of a longer order is
  confirmed;
- **fails**: otherwise, and whenever the paper's own crawler is not the best on average;
- **not testable** by a rule, which is one of these:
    - There are fewer than two topics, or no rows.
    - URLs are tested, and fewer than 1 % of them spell a label, or as many as the web was generated with.
    - Rules between classes are tested, and the web was generated without any.
    - Every fetch of an *oracle* is a page of the topic. It is less than 5 % ahead of b at every portion, or has less
      than four fifths of the paper's factor.

In brackets is what the oracle has, as a multiple of the last crawler of the order.
"""


def reproduction_page(reports: Sequence[ExperimentReport], causes: Mapping[str, str]) -> str:
    """Return the page of all claims.

    Args:
        reports: The experiments.
        causes: Why a claim fails or cannot be tested; Markdown, by its words.
    """
    lines = [_INTRODUCTION.format(conclusion=_conclusion(reports))]
    for report in reports:
        lines += _claims(report, causes)
    return "\n".join(lines).rstrip() + "\n"


def claims_of(report: ExperimentReport) -> dict[str, list[ClaimResult]]:
    """Return the findings of an experiment by claim, in their order."""
    found: dict[str, list[ClaimResult]] = {}
    for finding in report.findings:
        found.setdefault(finding.claim, []).append(finding)
    return found


def _conclusion(reports: Sequence[ExperimentReport]) -> str:
    verdicts = [
        {finding.verdict for finding in found} - {Verdict.UNTESTABLE}
        for report in reports
        for found in claims_of(report).values()
    ]
    everywhere = sum(own == {Verdict.HOLDS} for own in verdicts)
    nowhere = sum(own == {Verdict.FAILS} for own in verdicts)
    untestable = sum(not own for own in verdicts)
    partly = len(verdicts) - everywhere - nowhere - untestable
    return (
        f"Of {len(verdicts)} claims of the papers {everywhere} hold on every web where they can be tested. {partly} "
        f"hold on some webs or in part, {nowhere} on none, and {untestable} cannot be tested here."
    )


_HEADINGS = {
    Verdict.HOLDS: "holds",
    Verdict.IN_PART: "in part",
    Verdict.FAILS: "fails",
    Verdict.UNTESTABLE: "not testable",
}


def _claims(report: ExperimentReport, causes: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## {report.name}: {report.title}", "")
    for claim, found in claims_of(report).items():
        yield from (f"**{claim}**", "")
        for verdict, heading in _HEADINGS.items():
            if places := [_place(finding) for finding in found if finding.verdict == verdict]:
                yield f"- {heading}: {'; '.join(places)}"
        if claim in causes:
            yield f"- why: {causes[claim].strip()}"
        yield ""


def _place(finding: ClaimResult) -> str:
    return f"{finding.place} ({finding.ceiling:.1f} ×)" if finding.ceiling else finding.place
