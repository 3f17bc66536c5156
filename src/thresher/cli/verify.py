"""thresher verify: whether archive, pages and frontier agree, and what is done about it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json
from thresher.verify.crawl import verify as look_over
from thresher.verify.findings import Finding, Report


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--repair", is_flag=True, help="Mend what is wrong; no run may be under way.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(dir: Path, repair: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Check that archive, pages and frontier of a crawl agree; mend what a crash left.

    Every URL that is done in the frontier must have a stored row, and every stored page and link must be known to the
    frontier. With --repair, what is missing is queued again and fetched by the next run. Ends with 1 when something is
    wrong and was not mended.
    """
    report = asyncio.run(look_over(Crawl.open(dir), repair=repair))
    if as_json:
        echo_json(report.as_json())
    else:
        for line in sentences(report, repair=repair):
            echo(line)
    if not report.is_clean:
        raise SystemExit(1)


def sentences(report: Report, *, repair: bool) -> list[str]:
    """Say it in lines for people."""
    looked_at = ", ".join(f"{number:,} {name}" for name, number in report.looked_at.items())
    lines = [f"looked at {looked_at}"]
    for finding in report.findings:
        lines += _finding(finding)
    lines += [f"not checked: {words}" for words in report.unchecked]
    if report.is_clean:
        mended = any(finding.state == "mended" for finding in report.findings)
        agree = "what was checked agrees" if report.unchecked else "all parts agree"
        return [*lines, f"{agree} now; fetch what is missing: thresher run" if mended else agree]
    wrong = any(finding.state == "wrong" for finding in report.findings)
    return [*lines, "mend it: thresher verify --repair" if wrong and not repair else "not all could be mended"]


def _finding(finding: Finding) -> list[str]:
    examples = [f"    {example}" for example in finding.examples]
    return [f"{finding.state:>7}  {finding.part}: {finding.number:,} {finding.words}", *examples]
