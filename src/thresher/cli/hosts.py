"""thresher hosts: whom the crawl asks, and whom it leaves alone."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import click

from thresher.build import Crawl
from thresher.cli.show import CRAWL, echo_json, echo_table
from thresher.frontier.base import HostEntry


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="How many hosts.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def hosts(dir: Path, limit: int, as_json: bool) -> None:  # noqa: A002 - the argument's name on the command line
    """List hosts: their pages, harvest, delay, and why they are parked."""
    entries = asyncio.run(_hosts(Crawl.open(dir), limit))
    if as_json:
        echo_json([{**asdict(entry), "harvest_rate": _harvest(entry)} for entry in entries])
    else:
        echo_table(
            ["host", "pages", "relevant", "harvest", "failed", "waiting", "delay s", "next in s", "parked"],
            [
                (
                    entry.host,
                    entry.pages,
                    entry.relevant,
                    _harvest(entry),
                    entry.failed,
                    entry.waiting,
                    entry.delay_seconds,
                    entry.next_seconds,
                    entry.parked,
                )
                for entry in entries
            ],
        )


def _harvest(entry: HostEntry) -> float:
    return entry.relevant / entry.pages if entry.pages else 0.0


async def _hosts(crawl: Crawl, limit: int) -> list[HostEntry]:
    frontier = crawl.frontier()
    try:
        return await frontier.hosts(limit)
    finally:
        await frontier.close()
