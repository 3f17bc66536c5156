"""thresher run: crawl, with a live line on a terminal and plain lines elsewhere."""

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

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, in_words
from thresher.config import Stop
from thresher.engine.progress import Limits, Progress
from thresher.engine.run import RunResult, run_crawl
from thresher.errors import ConfigError
from thresher.failures import some
from thresher.fleet.binding import STORE_VARIABLE
from thresher.revisits import MOST_PAGES, refreshing
from thresher.totals import relevant_words

PLAIN_SECONDS = 5.0

F = TypeVar("F", bound=Callable[..., Any])


def metrics_options(command: F) -> F:
    """Add the options that say where workers tell how they are."""
    command = click.option(
        "--metrics-address", default="127.0.0.1", show_default=True, metavar="IP", help="Where metrics are served."
    )(command)
    return click.option(
        "--metrics-port",
        type=click.IntRange(1, 65535),
        help="Serve metrics for Prometheus: the first worker here, each further one on the next port.",
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
    help="Worker processes; 0 to watch over those of other machines.",
)
@click.option("--refresh", is_flag=True, help="Visit pages again, most to gain first; --pages says how many.")
@click.option("--strategy", metavar="NAME", help="Another strategy than topic.yaml's.")
@click.option(
    "--store", metavar="URL", envvar=STORE_VARIABLE, help="The store of a new crawl, in place of topic.yaml's."
)
@metrics_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    pages: int | None,
    minutes: float | None,
    workers: int,
    refresh: bool,
    strategy: str | None,
    store: str | None,
    metrics_port: int | None,
    metrics_address: str,
    as_json: bool,
) -> None:
    """Crawl, or go on where the last run stopped.

    Ctrl-C lets open requests finish and saves; the same command goes on. A second Ctrl-C stops at once.

    The exit code is 0 when the work was done, a limit that is reached included; 9 when nothing, or almost nothing,
    could be fetched; 11 when it was stopped.

    With a store that other machines can reach, such as redis://…, they join by thresher work. What ends this run then
    ends it for all of them.

    With --refresh, pages that have probably changed and are relevant are visited again; servers are asked for what has
    changed since. New links that are found wait for the next usual run. See thresher changes.
    """
    flags = {"strategy": strategy, "store": store, "refresh": "yes" if refresh else None}
    crawl = Crawl.open(dir, changes={name: value for name, value in flags.items() if value})
    if crawl.folder.joined.is_file():
        raise ConfigError(f"{dir} works for a crawl that was begun elsewhere; go on by thresher work --dir {dir}")
    if not workers and not crawl.is_shared:
        raise ConfigError("--workers 0 watches over other machines; give --store redis://…, which they can reach")
    crawl.check()
    around = refreshing(crawl, pages or MOST_PAGES) if refresh else None
    limits = Limits(minutes=minutes) if refresh else _limits(crawl.config.stop, pages, minutes)
    with Reporter() as reporter:
        metrics = (metrics_address, metrics_port) if metrics_port else None
        parts = {"workers": workers, "limits": limits, "report": reporter.show, "metrics": metrics}
        result = run_crawl(crawl, around=around, **parts)
    print_result(dir, result, as_json=as_json, look=f"changes {dir}" if refresh else "")
    sys.exit(result.exit_code)


def _limits(stop: Stop, pages: int | None, minutes: float | None) -> Limits:
    return Limits(
        pages=pages or stop.pages,
        relevant=stop.relevant,
        minutes=minutes or stop.minutes,
        harvest_below=stop.harvest_below,
    )


def line_of(progress: Progress) -> str:
    """Say in one line how a run stands and what limits it."""
    counts = progress.counts
    ahead = f"{progress.forecast.interval} relevant among " if progress.forecast else ""
    return (
        f"{counts.pages:,} pages · {relevant_words(counts)} · {ahead}{counts.waiting:,} waiting · "
        f"{progress.pages_per_second:.1f} pages/s · {progress.limit}"
    )


class Reporter:
    """One live line on a terminal; elsewhere a plain line every few seconds."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._next = 0.0

    def __enter__(self) -> Reporter:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show how the run stands."""
        if self._live:
            self._live.update(Text(line_of(progress)))
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            echo(line_of(progress), err=True)


def print_result(folder: Path, result: RunResult, *, as_json: bool, look: str = "") -> None:
    """Report how a run ended, why URLs failed, and which command shows what it brought."""
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
    if forecast:
        echo(f"Forecast: {in_words(forecast, counts.waiting)}.", err=True)
    echo(
        f"Look: thresher {look or (f'export {folder} -f csv -o pages.csv' if counts.pages else f'hosts {folder}')}",
        err=True,
    )
