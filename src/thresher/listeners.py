"""Who applies labels: the workers that run, or, when none does, this process in their place.

Workers that run poll the label log every second. When none runs, what they would do is done here, so that verdicts and
queue are up to date before the next run begins. On a shared store this process does so for the workers of this folder;
those of other machines apply the labels when they start.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from thresher.build import Crawl
from thresher.crew import crew, heard_by
from thresher.errors import CrawlBusy
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.roster import Roster

HEAR_SECONDS = 20.0
"""How long workers are waited for; a label that they have not heard by then they will hear later."""
LOOK_SECONDS = 0.1
FIRST_WORKER = "w1"


async def heard_by_all(crawl: Crawl, labels: int, *, seconds: float = HEAR_SECONDS) -> bool:
    """Wait until all workers have applied so many labels; do it here when none runs."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not crawl.is_shared and not crawl.folder.runner():
            try:
                await asyncio.to_thread(_hear_here, crawl)
                return True
            except CrawlBusy:  # somebody has begun a run just now
                continue
        names = await _at_work(crawl)
        if crawl.is_shared and not names:
            return await _apply_to_own_workers(crawl)
        if names and await _have_heard(crawl, names, labels):
            return True
        await asyncio.sleep(LOOK_SECONDS)
    return False


async def _apply_to_own_workers(crawl: Crawl) -> bool:
    """Do what the workers of this folder would do; False when it has none, or when a run has just begun."""
    if not _workers_here(crawl):
        return False
    try:
        await asyncio.to_thread(_hear_here, crawl)
    except CrawlBusy:
        return False
    return True


def _workers_here(crawl: Crawl) -> list[str]:
    return [path.stem for path in crawl.folder.segments()]


async def _have_heard(crawl: Crawl, names: Sequence[str], labels: int) -> bool:
    frontier = crawl.frontier()
    try:
        return all([await heard_by(frontier, name) >= labels for name in names])
    finally:
        await frontier.close()


async def _at_work(crawl: Crawl) -> list[str]:
    if not crawl.is_shared:
        frontier = crawl.frontier()
        try:
            return [hand.name for hand in await crew(frontier)]
        finally:
            await frontier.close()
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        return [worker.name for worker in await Roster(link, crawl.name).workers() if not worker.is_silent]
    finally:
        await link.close()


def _hear_here(crawl: Crawl) -> None:
    """Do what the workers of this crawl would do, one after the other, while no run can begin.

    Raises:
        CrawlBusy: A run is under way.
    """
    with crawl.folder.only_one_run():
        for worker in _workers_here(crawl) or [FIRST_WORKER]:
            asyncio.run(_hear_as(crawl, worker))


async def _hear_as(crawl: Crawl, worker: str) -> None:
    notebooks = crawl.notebooks(worker)
    try:
        rethink = crawl.rethink(worker, notebooks)
        hearing = crawl.hearing(rethink, worker)
        try:
            await hearing.begin()
        finally:
            await hearing.close()
            await rethink.let_go()
    finally:
        notebooks.close()
