"""thresher status: the numbers of a crawl, now."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, echo_table, in_words
from thresher.cli.stores import opened, store_options
from thresher.ended import Ended, last_ended
from thresher.failures import FailureReport, failure_report
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.roster import Roster, Worker
from thresher.frontier.base import Counts
from thresher.outlook import look_ahead
from thresher.records import Forecast
from thresher.totals import Totals


@click.command()
@click.argument("dir", type=CRAWL, required=False)
@store_options()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(dir: Path | None, store: str | None, name: str | None, as_json: bool) -> None:  # noqa: A002 - so it is called
    """Print a crawl in numbers.

    The crawl is named by its folder, or by its store and its name there. Where several machines share a store, their
    workers are listed too; one that has not been heard of for a while is called silent.
    """
    with opened(dir, store, name) as crawl:
        counts, workers, forecast, ended, failures = asyncio.run(_look(crawl))
        numbers = {"name": crawl.name, "strategy": crawl.config.strategy.name, **_numbers(counts)}
        if as_json:
            numbers["forecast"] = asdict(forecast) if forecast else None
            numbers |= {"ended": asdict(ended) if ended else None, "failures": failures.as_json()}
            echo_json({**numbers, "workers": list(map(_worker, workers))} if crawl.is_shared else numbers)
            return
    if forecast:
        numbers["forecast"] = in_words(forecast, counts.waiting)
    for label, value in numbers.items():
        echo(f"{label.replace('_', ' '):>14}  {_shown(value)}")
    if ended:
        echo(f"{'last run':>14}  {ended.words}")
    for line in failures.lines():
        echo(f"{'not fetched':>14}  {line}")
    if crawl.is_shared:
        echo()
        _show_workers(workers)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


async def _look(crawl: Crawl) -> tuple[Counts, list[Worker], Forecast | None, Ended | None, FailureReport]:
    frontier = crawl.look()
    is_running = crawl.is_shared or bool(crawl.folder.runner())
    try:
        counts = await Totals(crawl.counted_pages).read(frontier)
        return (
            counts,
            await _workers(crawl),
            await look_ahead(frontier, counts),
            await last_ended(frontier, is_running=is_running),
            await failure_report(frontier),
        )
    finally:
        await frontier.close()


async def _workers(crawl: Crawl) -> list[Worker]:
    if not crawl.is_shared:
        return []
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        return await Roster(link, crawl.name).workers()
    finally:
        await link.close()


def _worker(worker: Worker) -> dict[str, Any]:
    sign = asdict(worker.sign)
    state = "silent" if worker.is_silent else sign.pop("state")
    return {"name": worker.name, **sign, "state": state, "silent_seconds": round(worker.silent_seconds, 1)}


def _show_workers(workers: list[Worker]) -> None:
    if not workers:
        echo("No worker is there. One comes by thresher work.")
        return
    echo_table(
        ["worker", "machine", "process", "pages", "for s", "state", "heard of s ago"],
        [
            (
                row["name"],
                row["host"],
                str(row["pid"]),
                row["pages"],
                max(0, int(time.time() - row["since"])),
                row["state"],
                row["silent_seconds"],
            )
            for row in map(_worker, workers)
        ],
    )


def _numbers(counts: Counts) -> dict[str, Any]:
    numbers = asdict(counts)
    first = {name: numbers.pop(name) for name in ("pages", "duplicates", "relevant", "expected")}
    if counts.expected is None:
        first = {name: number for name, number in first.items() if name not in ("duplicates", "expected")}
    verdicts = {"provisional": counts.is_provisional, "harvest_rate": round(counts.harvest_rate, 4)}
    return {**first, **verdicts, **numbers}
