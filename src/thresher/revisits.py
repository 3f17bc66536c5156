"""A refresh of a crawl: its visits are chosen and queued before the run, and its queue hands over to the usual one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from thresher.archive.collection import Collection
from thresher.build import Crawl
from thresher.errors import ConfigError
from thresher.refresh.files import note_beginning, queue_path, remove_queue
from thresher.refresh.frontier import hand_over
from thresher.refresh.plan import candidates, choose

MOST_PAGES = 10_000
"""How many pages a refresh visits when nobody says how many."""


def check(crawl: Crawl) -> None:
    """Find out whether a crawl can be refreshed.

    Raises:
        ConfigError: It cannot, or there is nothing to visit.
    """
    if crawl.is_shared:
        raise ConfigError(
            "a crawl whose queue machines share cannot be refreshed: each of them knows only the pages it fetched; "
            f"start another one from it: thresher new NEW --from {crawl.folder.root}"
        )
    if not crawl.folder.segments():
        raise ConfigError(f"{crawl.folder.root} has no pages to visit again yet: thresher run {crawl.folder.root}")


@contextmanager
def refreshing(crawl: Crawl, number: int) -> Iterator[None]:
    """Queue the visits of a refresh, or go on with one that was stopped; afterwards let visited hosts rest.

    To be entered while no run of the crawl is under way.

    Raises:
        ConfigError: There is nothing to visit, or the crawl cannot be refreshed.
    """
    check(crawl)
    asyncio.run(_begin(crawl, number))
    try:
        yield
    finally:
        asyncio.run(_end(crawl))


async def _begin(crawl: Crawl, number: int) -> None:
    if not await _goes_on(crawl):
        now = time.time()
        remove_queue(crawl.folder.root)
        scope = crawl.rules().scope
        with Collection(crawl.folder.pages) as collection:
            chosen = choose(
                collection, number, now=now, allowed=lambda record: not scope.allows(record.url, record.depth)
            )
        visits = candidates(chosen, crawl.strategy())
        note_beginning(crawl.folder.root, now)
        queue = crawl.visits()
        try:
            await queue.add(visits)
        finally:
            await queue.close()
    await _hand_over(crawl, to_visits=True)


async def _goes_on(crawl: Crawl) -> bool:
    """Tell whether a refresh was stopped before its end, so that visits still wait for somebody who makes them."""
    if not queue_path(crawl.folder.root).is_file():
        return False
    queue = crawl.visits()
    try:
        return await queue.seconds_to_next() is not None
    finally:
        await queue.close()


async def _end(crawl: Crawl) -> None:
    await _hand_over(crawl, to_visits=False)


async def _hand_over(crawl: Crawl, *, to_visits: bool) -> None:
    visits, home = crawl.visits(), replace(crawl, changes={}).frontier()
    try:
        await (hand_over(home, visits) if to_visits else hand_over(visits, home))
    finally:
        await visits.close()
        await home.close()
