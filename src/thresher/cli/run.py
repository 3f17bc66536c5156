"""thresher run: crawl, with a live status line on a terminal and plain lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from thresher.assembly import check_crawl
from thresher.cli.output import CRAWL, echo, echo_json, in_words, json_option
from thresher.config.run_options import RunOptions
from thresher.config.schema import StopConfig
from thresher.coordination.store_binding import STORE_VARIABLE
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.count_interval import CountInterval
from thresher.locale.translation import _, localized
from thresher.monitoring.failures import duration
from thresher.monitoring.totals import relevant_words
from thresher.operations.refresh import MAX_PAGES, refresh_run
from thresher.runner.limits import Limits, Progress
from thresher.runner.supervisor import RunResult, SupervisorOptions, run_crawl
from thresher.status import described_keys, uncertain_count
from thresher.text.terminal import columns

if TYPE_CHECKING:
    from thresher.operations.doubtful_seeds import DoubtfulSeed

PLAIN_SECONDS = 5.0
NO_OTHER_MACHINES = _("--workers 0 only supervises other machines; give --store redis://…, which they can reach")

F = TypeVar("F", bound=Callable[..., Any])


STATUS_KEYS = (
    *("ended", "pages", "relevant", "harvest_rate", "duplicates", "expected", "provisional", "interval", "waiting"),
    *("forecast", "failed", "failures"),
)
RESULT_KEYS = {
    "ending": "How the run ended, as a code; as in ended.",
    **described_keys(STATUS_KEYS),
    "ended": "How the run ended: code, words, exit_code, fetched pages, time.",
    "seconds": "Seconds of this run.",
    "doubtful_seeds": "Seeds that no word of the phrase names: url, and whether words of the phrase are in the text.",
    "notice": "A sentence about the end that needs attention; usually empty.",
    "not_uploaded": "What of this machine is not in the collection, and the cause; null when all is.",
    "pages_per_second": "Pages per second of this run.",
}
"""The keys of the result of a run, for `run` and `join`."""


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

    With a store that other machines can reach, such as redis://…, they join by thresher join. The end of this run then
    ends the crawl for all of them.

    With --refresh, relevant pages that have probably changed are visited again, with conditional requests. New links
    wait for the next usual run. See thresher changes.

    After the first run, on a terminal, you may answer ten questions, as by thresher label.

    \b
    Examples:
      thresher run solar --pages 500
      thresher run solar --minutes 60 --workers 4
      thresher run solar --refresh --pages 200
    """
    flags = RunOptions(strategy=strategy or "", store=store or "", collection=collection or "", refresh=refresh)
    crawl = CrawlSetup.open(dir, flags)
    if crawl.folder.joined.is_file():
        raise _joined_elsewhere(dir)
    if not workers and not crawl.backend.has_other_machines:
        raise ConfigError(NO_OTHER_MACHINES)
    check_crawl(crawl)
    is_first = not crawl.folder.segments()
    during_run = refresh_run(crawl, pages or MAX_PAGES) if refresh else None
    limits = Limits(minutes=minutes) if refresh else _limits(crawl.config.stop, pages, minutes)
    with RunReporter() as reporter:
        metrics = (metrics_address, metrics_port) if metrics_port else None
        options = SupervisorOptions(workers=workers, limits=limits, report=reporter.show, metrics=metrics)
        result = run_crawl(crawl, options, during_run=during_run)
    # after a failure the store may be away
    interval, doubtful = (None, []) if result.exit_code else asyncio.run(_doubts(crawl, result))
    look = f"changes {dir}" if refresh else ""
    print_result(dir, result, as_json=as_json, next_command=look, interval=interval, doubtful=doubtful)
    if is_first and not as_json and not result.exit_code:
        from thresher.cli.label import offer_questions

        offer_questions(crawl)
    sys.exit(result.exit_code)


def _joined_elsewhere(folder: Path) -> ConfigError:
    return ConfigError(
        _(
            "{folder} works for a crawl that was started on another machine; "
            "continue with thresher join --dir {folder}",
            folder=folder,
        )
    )


async def _doubts(crawl: CrawlSetup, result: RunResult) -> tuple[CountInterval | None, list[DoubtfulSeed]]:
    """Return what makes the number of relevant pages doubtful: its interval, and seeds that no word names."""
    from thresher.operations.doubtful_seeds import doubtful_seeds  # imports numpy: not for --help

    async with crawl.connect() as connected:
        interval = await uncertain_count(crawl, connected, result.status)
    return interval, list(doubtful_seeds(crawl))


def _limits(stop: StopConfig, pages: int | None, minutes: float | None) -> Limits:
    return Limits(
        pages=pages or stop.pages,
        relevant=stop.relevant,
        minutes=minutes or stop.minutes,
        harvest_below=stop.harvest_below,
    )


def line_of(progress: Progress, width: int | None = None) -> str:
    """Return the progress of a run and what limits it, in one line; in a narrow terminal only what matters most."""
    counts, target, left = progress.status, progress.limits.pages, progress.seconds_left
    waiting = _("{number:,} waiting", number=counts.waiting)
    ahead, pages = waiting, _("{pages:,} pages", pages=counts.pages)
    if counts.forecast:
        ahead = _("{interval} relevant among {waiting}", interval=counts.forecast.interval, waiting=waiting)
    if target:
        pages = _("{pages:,}/{target:,} pages", pages=counts.pages, target=target)
    texts = {
        "pages": pages,
        "left": _("about {time} left", time=duration(left)) if left else "",
        "relevant": relevant_words(counts),
        "waiting": ahead,
        "speed": _("{speed:.1f} pages/s", speed=progress.pages_per_second),
        "limit": progress.limit,
    }
    parts = {name: localized(text) for name, text in texts.items()}
    shorter = [("waiting", localized(waiting)), *((name, "") for name in ("waiting", "speed", "limit", "relevant"))]
    while columns(line := " · ".join(filter(None, parts.values()))) > (width or columns(line)) and shorter:
        name, text = shorter.pop(0)
        parts[name] = text
    return line


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
            line = line_of(progress, self._live.console.width)
            self._live.update(Text(line, no_wrap=True, overflow="ellipsis"))
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + PLAIN_SECONDS
            echo(line_of(progress), err=True)


def _as_json(result: RunResult, interval: CountInterval | None, doubtful: Sequence[DoubtfulSeed]) -> dict[str, Any]:
    values = replace(result.status, interval=interval, ended=result.ended).as_json()
    return {
        "ending": result.stop_reason.code,
        **{name: values[name] for name in STATUS_KEYS},
        "seconds": round(result.progress.seconds, 3),
        "doubtful_seeds": [asdict(seed) for seed in doubtful],
        "notice": result.notice,
        "not_uploaded": asdict(result.waiting_uploads) if result.waiting_uploads else None,
        "pages_per_second": round(result.progress.pages_per_second, 3),
    }


def print_result(
    folder: Path,
    result: RunResult,
    *,
    as_json: bool,
    next_command: str = "",
    interval: CountInterval | None = None,
    doubtful: Sequence[DoubtfulSeed] = (),
) -> None:
    """Print how a run ended, why URLs failed, and which command shows the results."""
    counts, forecast = result.status, result.status.forecast
    if as_json:
        echo_json(_as_json(result, interval, doubtful))
    echo(result.closing_line, err=True)
    numbers = _(
        "{n:,} page, {relevant}, {failed:,} failed, {waiting:,} waiting, in {seconds:.0f} s.",
        "{n:,} pages, {relevant}, {failed:,} failed, {waiting:,} waiting, in {seconds:.0f} s.",
        n=counts.pages,
        relevant=relevant_words(counts),
        failed=counts.failed,
        waiting=counts.waiting,
        seconds=result.progress.seconds,
    )
    echo(numbers, err=True)
    if interval and not interval.is_certain:
        echo(_("Uncertain: {interval}", interval=interval.words(folder)), err=True)
    for seed in doubtful:
        echo(f"  {localized(seed)}", err=True)
    for line in result.failures.lines():
        echo(f"  {localized(line)}", err=True)
    if result.notice:
        echo(result.notice, err=True)
    if forecast:
        echo(_("Forecast: {forecast}.", forecast=in_words(forecast, counts.waiting)), err=True)
    usual = f"export {folder} -f csv -o pages.csv" if counts.pages else f"hosts {folder}"
    echo(_("Look: thresher {command}", command=next_command or usual), err=True)
