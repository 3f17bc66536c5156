"""The longest scripts: a host at its bound, from which every new link pushes another out."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from bench.stores.clients import open_frontier
from bench.stores.server import cpu_of, empty, measured_server, slowest, version
from bench.stores.world import BATCH, LEASE_SECONDS, LINKS, link
from thresher.frontier.base import CrawlStore
from thresher.records import Outcome, Settlement

PAGES = 50


def measure_full_host(kind: str, waiting: int, folder: Path) -> dict[str, Any]:
    """Fill one host to its bound, settle pages with 60 new links to it, and return the longest script of each step."""
    with measured_server(kind, empty(folder / f"full-{kind}")) as server:
        row: dict[str, Any] = {"version": version(server), "urls": waiting}
        frontier = open_frontier(server.url, waiting_per_host=waiting)
        rng = random.Random(1)

        async def steps() -> None:
            for start in range(0, waiting, BATCH):
                await frontier.add([link(1, number, rng) for number in range(start, min(start + BATCH, waiting))])
            row["fill_longest_ms"], _ = slowest(server)
            before = cpu_of(server)
            for page in range(PAGES):
                await _page(frontier, waiting + page * LINKS, rng)
            row["page_cpu_us"] = (cpu_of(server) - before).process / PAGES
            row["page_longest_ms"], _ = slowest(server)
            await frontier.add([link(1, number, rng) for number in range(10**7, 10**7 + BATCH)])
            row["batch_longest_ms"], _ = slowest(server)
            await frontier.close()

        asyncio.run(steps())
        return row


async def _page(frontier: CrawlStore, first: int, rng: random.Random) -> None:
    leases = await frontier.lease(1, seconds=LEASE_SECONDS)
    links = [link(1, number, rng) for number in range(first, first + LINKS)]
    await frontier.commit([Settlement(lease=leases[0], outcome=Outcome.DONE, links=links, page=True)])
