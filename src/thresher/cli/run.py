"""thresher run: crawl, with a live status line on a terminal and plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from thresher.cli.output import CRAWL, echo, echo_json, in_words, json_option
from thresher.config.schema import StopConfig
from thresher.coordination.store_binding import STORE_VARIABLE
from thresher.errors import ConfigError
from thresher.monitoring.failures import some
from thresher.monitoring.totals import relevant_words
from thresher.operations.refresh import MOST_PAGES, refresh_run
from thresher.project import CrawlProject
from thresher.runner.limits import Limits, Progress
from thresher.runner.supervisor import RunResult, run_crawl

PLAIN_SECONDS = 5.0

F = TypeVar("F", bound=Callable[..., Any])


RESULT_KEYS = {
    "ending": "How the run ended, as a code; as in ended.",
    "ended": "How the run ended: code, words, exit_code, fetched pages, time.",
    "pages": "Pages of the crawl.",
    "relevant": "Relevant pages, duplicates left out.",
    "harvest_rate": "Relevant pages per page.",
    "duplicates": "Pages with the text of another page.",
    "expected": "Sum of the relevances of the pages; null when unknown.",
    "provisional": "Whether there are too few pages for reliable verdicts.",
    "waiting": "URLs in the queue.",
    "forecast": "How many waiting URLs lead to relevant pages, as an interval; null when unknown.",
    "failed": "URLs that could not be fetched.",
    "failures": "Why, in groups of URLs.",
    "seconds": "Seconds of this run.",
    "notice": "A sentence about the end that needs attention; usually empty.",
    "not_uploaded": "What of this machine is not in the collection, and the cause; null when all is.",
    "pages_per_second": "Pages per second of this run.",
}
"""The keys of the result of a run, for `run` and `work`."""


def metrics_options(command: F) -> F:
    """Add the options of the metrics endpoint."""
    command = click.option(
        "--metrics-address", default="127.0.0.1", show_default=True, metavar="IP", help="Where metrics are served."
    )(command)
    return click.option(
        "--metrics-port",
        type=click.IntRange(1, 65535),
        help="Serve metrics for Prometheus on this port, such as 9101; each further worker on the next one.",
    )(command)


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--pages", type=click.IntRange(min=1), help="Stop when the crawl has this many pages, all runs counted.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after this many minutes.")
@click.option(
    "--workers",
    type=click.IntRange(0, 256),
    default=1,
    show_default=True,
    help="Worker processes; 0 to supervise those of other machines only.",
)
@click.option("--refresh", is_flag=True, help="Visit pages again, most to gain first; --pages limits their number.")
@click.option("--strategy", metavar="NAME", help="Another strategy than topic.yaml's, such as shark.")
@click.option(
    "--store",
    metavar="URL",
    envvar=STORE_VARIABLE,
    help="The store of a new crawl, such as redis://10.0.0.5:6379/0, in place of topic.yaml's.",
)
@click.option(
    "--collection",
    metavar="URL",
    help="Object storage for the pages of all machines, such as s3://bucket/solar, in place of topic.yaml's.",
)
@metrics_options
@json_option(RESULT_KEYS)
def run(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    pages: int | None,
    minutes: float | None,
    workers: int,
    refresh: bool,
    strategy: str | None,
    store: str | None,
    collection: str | None,
    metrics_port: int | None,
    metrics_address: str,
    as_json: bool,
) -> None:
    """Crawl, or continue where the last run stopped.

    Ctrl-C lets open requests finish and saves; the same command continues. A second Ctrl-C stops at once.

    The exit code is 0 when the work was done or a limit was reached; 7 when it was done, but pages wait here for
    their upload to the collection; 9 when nothing, or almost nothing, could be fetched; 11 when it was stopped.

    With a store that other machines can reach, such as redis://…, they join by thresher work. The end of this run then
    ends the crawl for all of them.

    With --refresh, relevant pages that have probably changed are visited again, with conditional requests. New links
    wait for the next usual run. See thresher changes.

    \b
    Examples:
      thresher run solar --pages 500
      thresher run solar --minutes 60 --workers 4
      thresher run solar --refresh --pages 200
    """
    flags = {"strategy": strategy, "store": store, "refresh": "yes" if refresh else None, "collection": collection}
    crawl = CrawlProject.open(dir, changes={name: value for name, value in flags.items() if value})
    if crawl.folder.joined.is_file():
        raise ConfigError(
            f"{dir} works for a crawl that was started on another machine; continue with thresher work --dir {dir}"
        )
    if not workers and not crawl.is_shared:
        raise ConfigError("--workers 0 only supervises other machines; give --store redis://…, which they can reach")
    crawl.check()
    around = refresh_run(crawl, pages or MOST_PAGES) if refresh else None
    limits = Limits(minutes=minutes) if refresh else _limits(crawl.config.stop, pages, minutes)
    with RunReporter() as reporter:
        metrics = (metrics_address, metrics_port) if metrics_port else None
        parts = {"workers": workers, "limits": limits, "report": reporter.show, "metrics": metrics}
        result = run_crawl(crawl, around=around, **parts)
    print_result(dir, result, as_json=as_json, next_command=f"changes {dir}" if refresh else "")
    sys.exit(result.exit_code)


def _limits(stop: StopConfig, pages: int | None, minutes: float | None) -> Limits:
    return Limits(
        pages=pages or stop.pages,
        relevant=stop.relevant,
        minutes=minutes or stop.minutes,
        harvest_below=stop.harvest_below,
    )


def line_of(progress: Progress) -> str:
    """Return the progress of a run and what limits it, in one line."""
    counts = progress.counts
    ahead = f"{progress.forecast.interval} relevant among " if progress.forecast else ""
    return (
        f"{counts.pages:,} pages · {relevant_words(counts)} · {ahead}{counts.waiting:,} waiting · "
        f"{progress.pages_per_second:.1f} pages/s · {progress.limit}"
    )


class RunReporter:
    """Prints a live line on a terminal; elsewhere a plain line every few seconds."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._next = 0.0

    def __enter__(self) -> RunReporter:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        if self._live:
            self._live.update(Text(line_of(progress)))
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            echo(line_of(progress), err=True)


def print_result(folder: Path, result: RunResult, *, as_json: bool, next_command: str = "") -> None:
    """Print how a run ended, why URLs failed, and which command shows the results."""
    counts, forecast = result.progress.counts, result.progress.forecast
    if as_json:
        echo_json(
            {
                "ending": result.ending.code,
                "ended": asdict(result.ended),
                "pages": counts.pages,
                "relevant": counts.relevant,
                "harvest_rate": counts.harvest_rate,
                "duplicates": counts.duplicates,
                "expected": counts.expected,
                "provisional": counts.is_provisional,
                "waiting": counts.waiting,
                "forecast": asdict(forecast) if forecast else None,
                "failed": counts.failed,
                "failures": result.failures.as_json(),
                "seconds": round(result.progress.seconds, 3),
                "notice": result.notice,
                "not_uploaded": asdict(result.waiting_uploads) if result.waiting_uploads else None,
                "pages_per_second": round(result.progress.pages_per_second, 3),
            }
        )
    echo(result.closing_line, err=True)
    echo(
        f"{some(counts.pages, 'page')}, {relevant_words(counts)}, {counts.failed:,} failed, "
        f"{counts.waiting:,} waiting, in {result.progress.seconds:.0f} s.",
        err=True,
    )
    for line in result.failures.lines():
        echo(f"  {line}", err=True)
    if result.notice:
        echo(result.notice, err=True)
    if forecast:
        echo(f"Forecast: {in_words(forecast, counts.waiting)}.", err=True)
    usual = f"export {folder} -f csv -o pages.csv" if counts.pages else f"hosts {folder}"
    echo(f"Look: thresher {next_command or usual}", err=True)
