"""thresher verify: check and repair the consistency of archive, pages and frontier."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json
from thresher.project import CrawlProject
from thresher.verify.crawl import verify as verify_crawl
from thresher.verify.findings import VerifyFinding, VerifyReport


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--repair", is_flag=True, help="Repair what is wrong; no run may be under way.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(dir: Path, repair: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Check that archive, pages and frontier of a crawl agree; repair what a crash left.

    Every URL that is done in the frontier must have a stored row, and every stored page and link must be known to the
    frontier. With --repair, what is missing is queued again and fetched by the next run. The exit code is 1 when
    something is wrong and was not repaired.
    """
    report = asyncio.run(verify_crawl(CrawlProject.open(dir), repair=repair))
    if as_json:
        echo_json(report.as_json())
    else:
        for line in sentences(report, repair=repair):
            echo(line)
    if not report.is_clean:
        raise SystemExit(1)


def sentences(report: VerifyReport, *, repair: bool) -> list[str]:
    """Return the report as lines of text."""
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


def _finding(finding: VerifyFinding) -> list[str]:
    examples = [f"    {example}" for example in finding.examples]
    return [f"{finding.state:>7}  {finding.part}: {finding.number:,} {finding.words}", *examples]
