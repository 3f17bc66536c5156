"""thresher batch: a job over all pages of a crawl."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from thresher.batch import JOBS
from thresher.cli.output import CRAWL, echo, echo_json, json_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.errors import require
from thresher.monitoring.failures import pluralize

if TYPE_CHECKING:
    from thresher.batch.executors import BatchResult


@click.command()
@click.argument("job", type=click.Choice(JOBS))
@click.argument("dir", type=CRAWL)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    metavar="FILE.parquet",
    help="The file for the result, one row per page.",
)
@click.option(
    "--ray",
    default="",
    metavar="ADDRESS",
    help="Run on a Ray cluster, such as ray://10.0.0.5:10001; local: on one that is started here.",
)
@click.option(
    "--work",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder for temporary files, such as /mnt/shared; all machines of a cluster must mount it.",
)
@click.option("--apply", is_flag=True, help="rejudge: write the new judgements back; no run may be under way.")
@json_option(
    {
        "counts": "The numbers of the job: pages, and what it found.",
        "parts": "Part files that were read.",
        "read_seconds": "Seconds for reading the pages.",
        "seconds": "Seconds for the whole job.",
        "unreadable": "Damaged pages that were left out; they are marked in the result.",
        "applied": "Judgements that were written back; null without --apply.",
    },
)
def batch(
    job: str,
    dir: Path,  # noqa: A002 - the argument's name on the command line
    output: Path,
    ray: str,
    work: Path | None,
    apply: bool,
    as_json: bool,
) -> None:
    """Run a job over all pages: rejudge, duplicates, links.

    rejudge: every page judged by the current model. duplicates: groups of pages with nearly the same main text. links:
    PageRank, and hubs and authorities weighted by relevance.

    \b
    Examples:
      thresher batch duplicates solar -o groups.parquet
      thresher batch rejudge solar -o judged.parquet --apply
    """
    if apply and job != "rejudge":
        raise click.UsageError(f"only rejudge makes judgements that --apply writes back; leave --apply out for {job}")
    if ray:
        require("ray", extra="ray", what="--ray")
    require("pyarrow", extra="parquet", what="thresher batch")
    from thresher.batch.executors import run_batch

    crawl = with_all_pages(CrawlSetup.open(dir))
    with crawl.folder.only_one_run() if apply else nullcontext():
        done = run_batch(job, crawl, output, ray=ray, work=work, apply=apply)
    if as_json:
        echo_json(asdict(done))
    else:
        _print(done, output)
    if done.unreadable:
        echo(
            f"{pluralize(done.unreadable, 'page')} could not be read and are left out: "
            f"what is stored of them is damaged. They are marked as unreadable in {output}. "
            f"Repair them: thresher verify {dir} --repair",
            err=True,
        )
        sys.exit(1)


def _print(done: BatchResult, output: Path) -> None:
    numbers = ", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in done.counts.items())
    echo(f"{numbers}, in {done.seconds:.1f} s, in {output}")
    if rest := done.counts["pages"] - done.counts.get("judged", done.counts["pages"]) - done.unreadable:
        echo(f"{pluralize(rest, 'page')} could not be judged: too little of them is stored", err=True)
    if done.applied is not None:
        elsewhere = done.counts["changed"] - done.applied
        echo(f"{done.applied:,} judgements written to the pages of this machine", err=True)
        if elsewhere:
            echo(f"{elsewhere:,} are of pages of other machines: give the command there too", err=True)
