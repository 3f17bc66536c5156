"""thresher hosts: list hosts, and release parked ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import click

from thresher.cli.output import CRAWL, echo, echo_json, echo_table, json_option, wide_option
from thresher.cli.stores import with_all_pages
from thresher.crawl import CrawlSetup
from thresher.frontier.base import HostEntry
from thresher.locale.translation import COMMA, SEMICOLON, _, joined
from thresher.monitoring.totals import host_totals
from thresher.operations.hosts import block_pages, harvest, host_json, left_parts
from thresher.operations.hosts import release as release_host
from thresher.reasons.reason import Reason, describe


@click.command()
@click.argument("dir", type=CRAWL)
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="How many hosts.")
@click.option(
    "--release", metavar="HOST", help="Crawl a parked host again, with a new budget; such as www.example.org."
)
@wide_option
@json_option(
    {
        "host": "The host.",
        "waiting": "URLs in its queue.",
        "leased": "URLs that are fetched now.",
        "pages": "Pages fetched.",
        "relevant": "Relevant pages.",
        "failed": "URLs that could not be fetched.",
        "delay_seconds": "Seconds between two requests.",
        "next_seconds": "Seconds until it may be requested again.",
        "best": "The best score in its queue; null when it is empty.",
        "parked": "Why it is parked; empty when it is not.",
        "harvest_rate": "Relevant pages per page.",
        "left_alone": "Parts of the host that are not crawled, with the reasons.",
        "blocked": "Block pages by kind.",
    },
    rows=True,
    note="With --release: an object with the key released, the host.",
)
def hosts(dir: Path, limit: int, release: str | None, as_json: bool) -> None:  # noqa: A002 - so on the command line
    """List hosts; release parked ones.

    The table has pages, harvest rate, block pages and delay, and why a host is parked.

    \b
    Examples:
      thresher hosts solar --limit 20
      thresher hosts solar --release www.example.org
    """
    crawl = with_all_pages(CrawlSetup.open(dir))
    if release is not None:
        _release(crawl, release, as_json=as_json)
    else:
        _list(crawl, limit, as_json)


def _list(crawl: CrawlSetup, limit: int, as_json: bool) -> None:
    entries, left, blocked = asyncio.run(_hosts(crawl, limit))
    if as_json:
        echo_json([host_json(entry, left.get(entry.host, {}), blocked.get(entry.host, {})) for entry in entries])
    else:
        names = [_("host"), _("pages"), _("relevant"), _("harvest"), _("failed"), _("blocked"), _("waiting")]
        echo_table(
            [*names, _("delay s"), _("next in s"), _("parked")],
            [
                (
                    entry.host,
                    entry.pages,
                    entry.relevant,
                    harvest(entry),
                    entry.failed,
                    _block_pages(blocked.get(entry.host, {})),
                    entry.waiting,
                    entry.delay_seconds,
                    entry.next_seconds,
                    describe(entry.parked) or _left_out(left.get(entry.host, {})),
                )
                for entry in entries
            ],
        )


def _block_pages(kinds: Mapping[str, int]) -> str:
    return joined(COMMA, [_("{number} {kind}", number=number, kind=_(kind)) for kind, number in kinds.items()])


def _left_out(parts: Mapping[str, Reason]) -> str:
    return joined(
        SEMICOLON, [_("not {part}: {reason}", part=part, reason=describe(why)) for part, why in parts.items()]
    )


async def _hosts(
    crawl: CrawlSetup, limit: int
) -> tuple[list[HostEntry], dict[str, dict[str, Reason]], dict[str, dict[str, int]]]:
    """Return hosts; for each the parts that are not crawled, with the reasons; and its block pages by kind."""
    async with crawl.connect() as connected:
        frontier = connected.frontier_reader
        entries = await frontier.hosts(limit)
        left = await left_parts(frontier, entries)
        return await host_totals(entries, crawl.backend.counted_pages), left, await block_pages(frontier)


def _release(crawl: CrawlSetup, host: str, *, as_json: bool) -> None:
    asyncio.run(_released(crawl, host.lower()))
    if as_json:
        echo_json({"released": host.lower()})
    else:
        echo(_("{host} is released.", host=host.lower()))


async def _released(crawl: CrawlSetup, host: str) -> None:
    async with crawl.connect() as connected:
        await release_host(connected.frontier, host)
