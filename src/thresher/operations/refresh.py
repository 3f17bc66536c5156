"""A refresh of a crawl: visits are chosen and queued before the run, in a queue beside the usual frontier."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from thresher.assembly import build_strategy
from thresher.config.run_options import RunOptions
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore, async_closing
from thresher.locale.translation import _
from thresher.refresh.plan import candidates, choose
from thresher.refresh.queue import copy_host_delays, queue_path, record_start, remove_queue
from thresher.storage.reader import PageStoreReader

MAX_PAGES = 10_000
"""Default number of pages that a refresh visits."""


def check(crawl: CrawlSetup) -> None:
    """Check that a crawl can be refreshed.

    Raises:
        ConfigError: It cannot, or there is nothing to visit.
    """
    if not crawl.backend.has_all_pages:
        raise ConfigError(
            _(
                "a crawl with a shared store cannot be refreshed: each machine has only the pages that it fetched; "
                "start another one from it: thresher new NEW --from {folder}",
                folder=crawl.folder.root,
            )
        )
    if not crawl.folder.segments():
        raise ConfigError(
            _("{folder} has no pages to visit again yet: thresher run {folder}", folder=crawl.folder.root)
        )


@contextmanager
def refresh_run(crawl: CrawlSetup, number: int) -> Iterator[None]:
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


async def _begin(crawl: CrawlSetup, number: int) -> None:
    async with async_closing(_home(crawl)) as home:
        if await _is_continued(crawl, home):
            return
        now = time.time()
        remove_queue(crawl.folder.root)
        scope = crawl.rules().scope
        with PageStoreReader(crawl.folder.pages) as collection:
            chosen = choose(
                collection, number, now=now, allowed=lambda record: not scope.allows(record.url, record.depth)
            )
        planned = candidates(chosen, build_strategy(crawl))
        record_start(crawl.folder.root, now)
        async with async_closing(crawl.backend.visits()) as visits:
            await visits.add(planned)
            await copy_host_delays(home, visits)


async def _is_continued(crawl: CrawlSetup, home: CrawlStore) -> bool:
    """Return whether visits of an earlier refresh are still waiting; if so, prepare them."""
    if not queue_path(crawl.folder.root).is_file():
        return False
    async with async_closing(crawl.backend.visits()) as visits:
        is_unfinished = await visits.seconds_to_next() is not None
        if is_unfinished:
            await copy_host_delays(home, visits)
    return is_unfinished


async def _end(crawl: CrawlSetup) -> None:
    async with async_closing(_home(crawl)) as home, async_closing(crawl.backend.visits()) as visits:
        await copy_host_delays(visits, home)


def _home(crawl: CrawlSetup) -> CrawlStore:
    """Open the crawl's own frontier."""
    return replace(crawl, options=RunOptions()).backend.frontier()
