"""thresher status: the numbers of a crawl, now."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from thresher.archive.collection import Collection
from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo, echo_json, echo_table
from thresher.cli.stores import opened, store_options
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.roster import Roster, Worker
from thresher.frontier.base import Counts
from thresher.outlook import look_ahead
from thresher.records import Forecast


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
        counts, workers, forecast = asyncio.run(_look(crawl))
        if not crawl.is_shared:
            with Collection(crawl.folder.pages) as collection:  # the frontier counted them as they were judged first
                counts = replace(counts, relevant=collection.relevant_pages())
        numbers = {"name": crawl.name, "strategy": crawl.config.strategy.name, **_numbers(counts), **_ahead(forecast)}
        if as_json:
            echo_json({**numbers, "workers": list(map(_worker, workers))} if crawl.is_shared else numbers)
            return
    for label, value in numbers.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if isinstance(value, float) else value
        echo(f"{label.replace('_', ' '):>14}  {shown}")
    if crawl.is_shared:
        echo()
        _show_workers(workers)


async def _look(crawl: Crawl) -> tuple[Counts, list[Worker], Forecast | None]:
    frontier = crawl.frontier()
    try:
        return await frontier.counts(), await _workers(crawl), await look_ahead(frontier)
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


def _ahead(forecast: Forecast | None) -> dict[str, Any]:
    """Say what the strategy expects, if it can tell: relevant pages left, their share found, and the next yield."""
    if forecast is None:
        return {}
    return {
        "expected_left": round(forecast.left),
        "share_found": round(forecast.share_found, 3),
        "next_yield": round(forecast.next_yield, 3),
    }


def _numbers(counts: Counts) -> dict[str, Any]:
    numbers = asdict(counts)
    first = {name: numbers.pop(name) for name in ("pages", "relevant")}
    harvest = counts.relevant / counts.pages if counts.pages else 0.0
    return {**first, "harvest_rate": round(harvest, 4), **numbers}
