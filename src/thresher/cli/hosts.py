"""thresher hosts: list hosts, and release parked ones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table
from thresher.cli.stores import with_all_pages
from thresher.frontier.base import HostEntry
from thresher.monitoring.totals import host_totals
from thresher.operations.hosts import block_pages, harvest, host_json, left_parts
from thresher.operations.hosts import release as release_host
from thresher.project import CrawlProject


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="How many hosts.")
@click.option("--release", metavar="HOST", help="Crawl a parked host again, with a new budget.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def hosts(dir: Path, limit: int, release: str | None, as_json: bool) -> None:  # noqa: A002 - so on the command line
    """List hosts: their pages, harvest, block pages, delay, and why they are parked."""
    crawl = with_all_pages(CrawlProject.open(dir))
    if release is not None:
        _release(crawl, release)
    else:
        _list(crawl, limit, as_json)


def _list(crawl: CrawlProject, limit: int, as_json: bool) -> None:
    entries, left, blocked = asyncio.run(_hosts(crawl, limit))
    if as_json:
        echo_json([host_json(entry, left.get(entry.host, {}), blocked.get(entry.host, {})) for entry in entries])
    else:
        echo_table(
            ["host", "pages", "relevant", "harvest", "failed", "blocked", "waiting", "delay s", "next in s", "parked"],
            [
                (
                    entry.host,
                    entry.pages,
                    entry.relevant,
                    harvest(entry),
                    entry.failed,
                    ", ".join(f"{number} {kind}" for kind, number in blocked.get(entry.host, {}).items()),
                    entry.waiting,
                    entry.delay_seconds,
                    entry.next_seconds,
                    entry.parked or "; ".join(f"not {part}: {why}" for part, why in left.get(entry.host, {}).items()),
                )
                for entry in entries
            ],
        )


async def _hosts(
    crawl: CrawlProject, limit: int
) -> tuple[list[HostEntry], dict[str, dict[str, str]], dict[str, dict[str, int]]]:
    """Return hosts; for each the parts that are not crawled, with the reasons; and its block pages by kind."""
    frontier = crawl.frontier_reader()
    try:
        entries = await frontier.hosts(limit)
        left = await left_parts(frontier, entries)
        return await host_totals(entries, crawl.counted_pages), left, await block_pages(frontier)
    finally:
        await frontier.close()


def _release(crawl: CrawlProject, host: str) -> None:
    asyncio.run(_released(crawl, host.lower()))
    echo(f"{host.lower()} is released.")


async def _released(crawl: CrawlProject, host: str) -> None:
    frontier = crawl.frontier()
    try:
        await release_host(frontier, host)
    finally:
        await frontier.close()
