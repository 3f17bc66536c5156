"""thresher verify: check and repair the consistency of archive, pages and frontier."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.crawl import CrawlSetup
from thresher.errors import StoreRefused, StoreUnreachable
from thresher.monitoring.failures import pluralize
from thresher.verify.crawl import verify as verify_crawl
from thresher.verify.findings import VerifyFinding, VerifyReport

if TYPE_CHECKING:
    from thresher.collection.audit import CollectionAudit


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--repair", is_flag=True, help="Repair what is wrong; no run may be under way.")
@json_option(
    {
        "clean": "Whether nothing is wrong, or all was repaired.",
        "looked_at": "How much was checked.",
        "findings": "What was found: part, state, number, words and examples.",
        "unchecked": "What could not be compared, and why.",
    },
)
def verify(dir: Path, repair: bool, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """Check and repair the files and the queue of a crawl.

    WARC files, pages and frontier must agree after a crash. Every URL that is done in the frontier must have a stored
    row, and every stored page and link must be known to the frontier. With --repair, what is missing is queued again
    and fetched by the next run. The exit code is 1 when something is wrong and was not repaired.

    With a collection, the pages of all machines are compared, and every object of it is read. With --repair, what waits
    here is uploaded, and what is missing or damaged in the collection is uploaded again from here; what a lost machine
    held is queued again.

    \b
    Examples:
      thresher verify solar
      thresher verify solar --repair
    """
    crawl = CrawlSetup.open(dir)
    repaired = _repair_collection(crawl) if repair and crawl.config.collection else None
    report = asyncio.run(verify_crawl(crawl, repair=repair, repaired=repaired))
    if as_json:
        echo_json(report.as_json())
    else:
        for line in sentences(report, dir, repair=repair):
            echo(line)
    if not report.is_clean:
        raise SystemExit(1)


def _repair_collection(crawl: CrawlSetup) -> CollectionAudit | None:
    """Upload what a run left on this machine, and what the collection has lost; None while it does not answer."""
    crawl.backend.objects()  # says so if a package is not installed
    from thresher.runner.uploads import repair_collection

    try:
        with crawl.folder.only_one_run():
            return repair_collection(crawl)
    except (StoreUnreachable, StoreRefused) as error:
        echo(f"Pages of this machine wait for their upload: {error}.", err=True)
        return None


def sentences(report: VerifyReport, folder: Path, *, repair: bool) -> list[str]:
    """Return the report as lines of text."""
    looked_at = ", ".join(pluralize(number, name.removesuffix("s")) for name, number in report.looked_at.items())
    lines = [f"looked at {looked_at}"]
    for finding in report.findings:
        lines += _finding(finding)
    lines += [f"not checked: {words}" for words in report.unchecked]
    if report.is_clean:
        repaired = any(finding.state == "repaired" for finding in report.findings)
        agree = "what was checked agrees" if report.unchecked else "all parts agree"
        return [*lines, f"{agree} now; fetch what is missing: thresher run {folder}" if repaired else agree]
    wrong = any(finding.state == "wrong" for finding in report.findings)
    next_step = f"repair it: thresher verify {folder} --repair" if wrong and not repair else "not all could be repaired"
    return [*lines, next_step]


def _finding(finding: VerifyFinding) -> list[str]:
    number = f"{finding.number:,} " if finding.number else ""
    examples = [f"    {example}" for example in finding.examples]
    return [f"{finding.state:>8}  {finding.part}: {number}{finding.words}", *examples]
