"""thresher lab reproduce: the papers' experiments on frozen webs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from thresher.cli.output import echo, echo_json, echo_table, json_option

if TYPE_CHECKING:
    from thresher_lab.reproduce.plans import ExperimentOverrides
    from thresher_lab.reproduce.tables import ExperimentReport


@click.command()
@click.argument("experiments", nargs=-1, required=True, metavar="E1 ... E10|all")
@click.option(
    "--web",
    "webs",
    metavar="NAMES",
    default="",
    help="Separated by commas, such as webkb.  [default: the experiment's own]",
)
@click.option("--topics", default="test", show_default=True, metavar="NAMES", help="Separated by commas, or dev, test.")
@click.option(
    "--pages", type=click.IntRange(min=1), help="Fetches per crawl, such as 500.  [default: the experiment's own]"
)
@click.option(
    "--seeds", type=click.IntRange(min=1), help="Seed sets per topic, such as 5.  [default: the experiment's own]"
)
@click.option("--workers", type=click.IntRange(1, 256), help="Processes, such as 4.  [default: the machine's cores]")
@click.option("--report", "only_report", is_flag=True, help="Run nothing; print the report of existing rows.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write a page of all claims, such as reproduction.md, with the causes.yaml of the folder; and the tables "
    "of each experiment into the folder.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("thresher-lab") / "reproduce",
    show_default=True,
    help="The folder of rows; those that are there are not run again.",
)
@json_option(
    {
        "name": "The number of the experiment, such as E1.",
        "title": "Its question.",
        "tables": "The figures beside those of the paper: title, columns, rows.",
        "findings": "Per claim and web: claim, place, verdict, reason, ceiling.",
        "notes": "What was cut, and what is missing.",
    },
    rows=True,
)
def reproduce(
    experiments: Sequence[str],
    webs: str,
    topics: str,
    pages: int | None,
    seeds: int | None,
    workers: int | None,
    only_report: bool,
    page: Path | None,
    folder: Path,
    as_json: bool,
) -> None:
    """Run the papers' experiments, and report which of their claims hold here.

    Rows go to a file per experiment; after a stop, the same command continues. A folder is for one choice of topics and
    pages.

    \b
    Examples:
      thresher lab reproduce E1 E4 --workers 4
      thresher lab reproduce all --report --json
    """
    from thresher_lab.reproduce.experiments import chosen, read_causes, report
    from thresher_lab.reproduce.plans import ExperimentOverrides
    from thresher_lab.reproduce.tables import markdown, reproduction_page

    choice = ExperimentOverrides(webs=_names(webs), topics=_names(topics), pages=pages, seed_sets=seeds)
    reports = []
    for name in chosen(experiments):
        trouble = [] if only_report else _run(name, folder, choice, workers or os.cpu_count() or 1)
        reports.append(report(name, folder, trouble))
        if not as_json:
            _print(reports[-1])
    if page:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(reproduction_page(reports, read_causes(folder)), encoding="utf-8")
        for made in reports:
            (folder / f"{made.name}.md").write_text(markdown(made), encoding="utf-8")
        echo(page, err=as_json)
    if as_json:
        echo_json([asdict(report) for report in reports])


def _names(parted_by_commas: str) -> list[str]:
    return [name.strip() for name in parted_by_commas.split(",") if name.strip()]


def _run(name: str, folder: Path, choice: ExperimentOverrides, workers: int) -> list[str]:
    from thresher_lab.cli.progress import STOPPED, LabReporter
    from thresher_lab.reproduce.experiments import run

    echo(f"{name} …", err=True)
    try:
        with LabReporter() as reporter:
            trouble = run(name, folder, choice, processes=workers, progress=reporter.show)
    except KeyboardInterrupt:
        echo(f"Stopped. What was done is in {folder}; the same command continues.", err=True)
        sys.exit(STOPPED)
    for line in trouble:
        echo(line, err=True)
    return trouble


def _print(report: ExperimentReport) -> None:
    from thresher_lab.reproduce.tables import written

    echo()
    echo(f"{report.name}: {report.title}")
    for table in report.tables:
        echo()
        echo(table.title)
        echo_table(table.columns, [[written(cell) for cell in row] for row in table.rows])
    if report.findings:
        echo()
        rows = [[one.claim, one.place, one.verdict, one.reason, written(one.ceiling)] for one in report.findings]
        echo_table(["claim", "where", "verdict", "why", "oracle"], rows)
    for note in report.notes:
        echo(f"Note: {note}")
