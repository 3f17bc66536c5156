"""thresher run: crawl, with a live line on a terminal and plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json
from thresher.engine.progress import Limits, Progress
from thresher.engine.run import RunResult, run_crawl

PLAIN_SECONDS = 5.0


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--pages", type=click.IntRange(min=1), help="Stop when the crawl has this many pages, all runs counted.")
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after this many minutes.")
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Worker processes.")
@click.option("--strategy", metavar="NAME", help="Another strategy than topic.yaml's.")
@click.option("--store", metavar="URL", help="Another store than topic.yaml's.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def run(
    dir: Path,  # noqa: A002 - the argument's name on the command line
    pages: int | None,
    minutes: float | None,
    workers: int,
    strategy: str | None,
    store: str | None,
    as_json: bool,
) -> None:
    """Crawl, or go on where the last run stopped.

    Ctrl-C lets open requests finish and saves; the same command goes on. A second Ctrl-C stops at once.
    """
    flags = {"strategy": strategy, "store": store}
    crawl = Crawl.open(dir, changes={name: value for name, value in flags.items() if value})
    crawl.check()
    stop = crawl.config.stop
    limits = Limits(
        pages=pages or stop.pages,
        relevant=stop.relevant,
        minutes=minutes or stop.minutes,
        harvest_below=stop.harvest_below,
    )
    with _Reporter() as reporter:
        result = run_crawl(crawl, workers=workers, limits=limits, report=reporter.show)
    _print_result(dir, result, as_json=as_json)
    sys.exit(result.ending.exit_code)


def line_of(progress: Progress) -> str:
    """Say in one line how a run stands and what limits it."""
    counts = progress.counts
    harvest = counts.relevant / counts.pages if counts.pages else 0.0
    return (
        f"{counts.pages:,} pages · {counts.relevant:,} relevant ({harvest:.2f}) · {counts.waiting:,} waiting · "
        f"{progress.pages_per_second:.1f} pages/s · {progress.limit}"
    )


class _Reporter:
    """One live line on a terminal; elsewhere a plain line every few seconds."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._live = Live(console=console, refresh_per_second=4, transient=True) if console.is_terminal else None
        self._next = 0.0

    def __enter__(self) -> _Reporter:
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


def _print_result(folder: Path, result: RunResult, *, as_json: bool) -> None:
    counts = result.progress.counts
    if as_json:
        echo_json(
            {
                "ending": result.ending.name.lower(),
                "pages": counts.pages,
                "relevant": counts.relevant,
                "harvest_rate": counts.relevant / counts.pages if counts.pages else 0.0,
                "waiting": counts.waiting,
                "failed": counts.failed,
                "seconds": round(result.progress.seconds, 3),
                "pages_per_second": round(result.progress.pages_per_second, 3),
            }
        )
    harvest = counts.relevant / counts.pages if counts.pages else 0.0
    echo(
        f"{result.ending.words.capitalize()}: {counts.pages:,} pages, {counts.relevant:,} relevant "
        f"(harvest rate {harvest:.2f}), {counts.failed:,} failed, {counts.waiting:,} waiting, "
        f"in {result.progress.seconds:.0f} s.",
        err=True,
    )
    echo(f"Look: thresher export {folder} -f csv -o pages.csv", err=True)
