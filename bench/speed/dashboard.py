"""What the dashboard costs.

``python -m bench.speed.dashboard`` (how long views take) and ``--live`` (what a crawl loses).

Views: a crawl with 100,000 pages and a million waiting URLs is written, with its queue in SQLite and in Redis; every
view is asked for again and again, past the cache that viewers share. Live: a generated web is crawled on loopback in
rounds, in turn without and with a dashboard that a listener to its events and a screen that asks every second look at;
the ratio of the pages per second is what is left of the speed. ``--folder`` keeps the crawls for another time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.speed.dashboard_live import PAGES as LIVE_PAGES
from bench.speed.dashboard_live import PAIRS, live
from bench.stores.server import measured_server
from testing.machine import machine
from testing.screens import crawls as world
from thresher.crawl import CrawlSetup
from thresher_ui.dashboard.service import CrawlService
from thresher_ui.dashboard.views import frontier, harvest, hosts, label, page, pages, search, workers

HOSTS = 10_000
ROUNDS = 20
STORE = "redis"

View = Callable[[], Awaitable[Any]]
Times = dict[str, list[tuple[float, float]]]
"""By view, the milliseconds of each look: by the clock, and of the processor."""


def views(service: CrawlService, name: str, middle: int) -> dict[str, View]:
    """Every view, as the screens ask for it."""
    url = world.page_url(middle, HOSTS)
    return {
        "status": lambda: service.status(name),
        "harvest": lambda: service.view(name, harvest.harvest),
        "pages, newest": lambda: service.view(name, pages.pages),
        "pages, most relevant": lambda: service.view(name, pages.pages, order="relevance", relevant=True),
        "page": lambda: service.view(name, page.page, url=url),
        "frontier": lambda: service.view(name, frontier.frontier),
        "hosts": lambda: service.view(name, hosts.hosts),
        "hosts, parked": lambda: service.view(name, hosts.hosts, parked=True),
        "questions": lambda: service.view(name, label.questions),
        "search": lambda: service.view(name, search.search, q=f"{world.WORDS[3]} {world.WORDS[7]}"),
        "workers": lambda: service.view(name, workers.workers),
    }


@asynccontextmanager
async def opened(crawl: CrawlSetup) -> AsyncIterator[CrawlService]:
    """Look at a crawl; the first look, which reads all pages, and the search index are waited for."""
    service = CrawlService({"crawl": crawl})
    began = time.perf_counter()
    await service.open()
    print(f"opened in {time.perf_counter() - began:.2f} s", file=sys.stderr)
    try:
        while (await service.view("crawl", search.search, q=world.WORDS[0]))["growing"]:  # noqa: ASYNC110 - it can only be asked
            await asyncio.sleep(1)
        yield service
    finally:
        await service.close()


async def measure(crawl: CrawlSetup, written: int, rounds: int) -> Times:
    """Ask for every view `rounds` times; return the milliseconds, each with its answer as JSON."""
    async with opened(crawl) as service:
        took: Times = {}
        for _ in range(rounds):
            for name, view in views(service, "crawl", written // 2).items():
                service.forget("crawl")
                began, worked = time.perf_counter(), time.process_time()
                json.dumps(await view())
                times = (time.perf_counter() - began) * 1000, (time.process_time() - worked) * 1000
                took.setdefault(name, []).append(times)
    return took


async def sized(folder: Path, arguments: argparse.Namespace, store: str) -> Times:
    """Write a crawl, and measure it."""
    crawl = world.write(folder, pages=arguments.pages, hosts=HOSTS, store=store)
    frontier = crawl.backend.frontier()
    began = time.perf_counter()
    await world.fill(frontier, pages=arguments.pages, waiting=arguments.waiting, hosts=HOSTS)
    print(f"{folder.name}: {await frontier.counts()}, {time.perf_counter() - began:.0f} s", file=sys.stderr)
    await frontier.close()
    return await measure(crawl, arguments.pages, arguments.rounds or ROUNDS)


def table(columns: dict[str, Times]) -> str:
    """Write the milliseconds as a table: median and 95th percentile by the clock, median of the processor."""
    heads = " | ".join(f"{name} p50 ms | p95 ms | CPU ms" for name in columns)
    lines = [f"| view | {heads} |", "|---|" + "---:|" * (3 * len(columns))]
    for view in next(iter(columns.values())):
        lines.append(f"| {view} | {' | '.join(_cells(took[view]) for took in columns.values())} |")
    return "\n".join(lines)


def _cells(times: Sequence[tuple[float, float]]) -> str:
    clock, processor = (sorted(values) for values in zip(*times, strict=True))
    late = clock[int(0.95 * len(clock))]
    return f"{statistics.median(clock):.0f} | {late:.0f} | {statistics.median(processor):.0f}"


def measure_views(folder: Path, arguments: argparse.Namespace) -> str:
    """Measure both stores."""
    columns = {"SQLite": asyncio.run(sized(folder / "local", arguments, "sqlite"))}
    if not arguments.sqlite_only:
        if not (folder / "shared").exists():  # the same pages, with their search index
            shutil.copytree(folder / "local", folder / "shared", ignore=shutil.ignore_patterns("frontier.db*"))
        with measured_server(STORE, folder / "server") as server:
            columns["Redis"] = asyncio.run(sized(folder / "shared", arguments, server.url))
    return table(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--waiting", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, help="looks at each view (20), or pairs of crawls (6)")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sqlite-only", action="store_true")
    parser.add_argument("--live", action="store_true", help="what a crawl loses, in place of how long views take")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dashboard-") as temporary:
        folder = arguments.folder or Path(temporary)
        print(machine())
        print(
            live(rounds=arguments.rounds or PAIRS, pages=min(arguments.pages, LIVE_PAGES))
            if arguments.live
            else measure_views(folder, arguments)
        )


if __name__ == "__main__":
    main()
