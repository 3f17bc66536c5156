"""A refresh of a crawl: visits are chosen and queued before the run, in a queue beside the usual frontier."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from thresher.errors import ConfigError
from thresher.project import CrawlProject, build_strategy
from thresher.refresh.plan import candidates, choose
from thresher.refresh.queue import copy_host_delays, queue_path, record_start, remove_queue
from thresher.storage.reader import PageStoreReader

MOST_PAGES = 10_000
"""Default number of pages that a refresh visits."""


def check(crawl: CrawlProject) -> None:
    """Check that a crawl can be refreshed.

    Raises:
        ConfigError: It cannot, or there is nothing to visit.
    """
    if crawl.is_shared:
        raise ConfigError(
            "a crawl with a shared store cannot be refreshed: each machine has only the pages that it fetched; "
            f"start another one from it: thresher new NEW --from {crawl.folder.root}"
        )
    if not crawl.folder.segments():
        raise ConfigError(f"{crawl.folder.root} has no pages to visit again yet: thresher run {crawl.folder.root}")


@contextmanager
def refresh_run(crawl: CrawlProject, number: int) -> Iterator[None]:
    """Queue the visits of a refresh, or continue one that was stopped; afterwards copy host delays to the frontier.

    Enter it only while no run of the crawl is under way.

    Raises:
        ConfigError: There is nothing to visit, or the crawl cannot be refreshed.
    """
    check(crawl)
    asyncio.run(_begin(crawl, number))
    try:
        yield
    finally:
        asyncio.run(_end(crawl))


async def _begin(crawl: CrawlProject, number: int) -> None:
    if not await _is_unfinished(crawl):
        now = time.time()
        remove_queue(crawl.folder.root)
        scope = crawl.rules().scope
        with PageStoreReader(crawl.folder.pages) as collection:
            chosen = choose(
                collection, number, now=now, allowed=lambda record: not scope.allows(record.url, record.depth)
            )
        visits = candidates(chosen, build_strategy(crawl))
        record_start(crawl.folder.root, now)
        queue = crawl.visits()
        try:
            await queue.add(visits)
        finally:
            await queue.close()
    await _copy_host_delays(crawl, to_visits=True)


async def _is_unfinished(crawl: CrawlProject) -> bool:
    """Return whether visits of an earlier refresh are still waiting."""
    if not queue_path(crawl.folder.root).is_file():
        return False
    queue = crawl.visits()
    try:
        return await queue.seconds_to_next() is not None
    finally:
        await queue.close()


async def _end(crawl: CrawlProject) -> None:
    await _copy_host_delays(crawl, to_visits=False)


async def _copy_host_delays(crawl: CrawlProject, *, to_visits: bool) -> None:
    visits, home = crawl.visits(), replace(crawl, changes={}).frontier()
    try:
        await (copy_host_delays(home, visits) if to_visits else copy_host_delays(visits, home))
    finally:
        await visits.close()
        await home.close()
