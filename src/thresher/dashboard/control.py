"""What somebody at the dashboard may do to a crawl: start it, stop it, pause it, and say when it ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from thresher import hosts
from thresher.build import Crawl
from thresher.dashboard.errors import Refused
from thresher.dashboard.watched import WatchedCrawl
from thresher.engine.progress import NOTHING_FETCHED, Ending
from thresher.engine.stopping import stop as stop_crawl
from thresher.frontier.base import Frontier
from thresher.wishes import Wishes, read_wishes, wish

START_SECONDS = 15.0
"""So long a run may take to begin; when it ends before, the end of its log says why."""
LOOK_SECONDS = 0.1
OUTPUT = "run.log"
"""What a run that was started here says, beside the crawl's own log."""

KEPT_BACK = ("THRESHER_UI_TOKEN",)
"""What a crawl need not know."""


@asynccontextmanager
async def _frontier(crawl: Crawl) -> AsyncIterator[Frontier]:
    frontier = await asyncio.to_thread(crawl.frontier)
    try:
        yield frontier
    finally:
        await frontier.close()


async def start(
    watched: WatchedCrawl, *, pages: int | None = None, minutes: float | None = None, workers: int = 1
) -> None:
    """Start a run in a process of its own, which goes on when the dashboard ends.

    Raises:
        Refused: It cannot be started from here, runs already, or ended at once.
    """
    crawl = watched.crawl
    if not watched.is_startable:
        raise Refused(409, "this crawl was begun elsewhere; start it there")
    if crawl.folder.runner():
        raise Refused(409, "a run of this crawl is under way")
    await asyncio.to_thread(crawl.check)
    flags = {"--workers": workers, "--pages": pages, "--minutes": minutes}
    given = [str(part) for flag, value in flags.items() if value is not None for part in (flag, value)]
    process = await asyncio.to_thread(_spawn, crawl, given)
    for _ in range(int(START_SECONDS / LOOK_SECONDS)):
        if crawl.folder.runner() == process.pid:
            return
        if (code := process.returncode) is not None:
            _check_ending(code)
            return
        await asyncio.sleep(LOOK_SECONDS)


def _check_ending(code: int) -> None:
    if code not in {NOTHING_FETCHED, *(ending.exit_code for ending in Ending)}:
        raise Refused(409, f"the run ended at once, with exit code {code}; {OUTPUT} in the crawl's folder says why")


def _spawn(crawl: Crawl, flags: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "thresher", "run", str(crawl.folder.root.resolve()), *flags]
    environment = {name: value for name, value in os.environ.items() if name not in KEPT_BACK}
    if crawl.is_shared:
        environment["THRESHER_STORE"] = crawl.config.store  # a password must not stand on a command line
    output = os.open(crawl.folder.root / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own command; nothing of it comes from a request but numbers
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    finally:
        os.close(output)
    threading.Thread(target=process.wait, name="run", daemon=True).start()  # takes note of its end
    return process


async def stop(watched: WatchedCrawl) -> None:
    """Let all workers finish what is open and leave."""
    await stop_crawl(watched.crawl)


async def pause(watched: WatchedCrawl, *, paused: bool) -> None:
    """Let nothing new be fetched, or go on."""
    async with _frontier(watched.crawl) as frontier:
        await wish(frontier, replace(await read_wishes(frontier), paused=paused))


async def set_budgets(watched: WatchedCrawl, limits: Mapping[str, Any]) -> None:
    """Say when the run ends, in the place of what it was told before; None where that stays."""
    async with _frontier(watched.crawl) as frontier:
        paused = (await read_wishes(frontier)).paused
        await wish(frontier, Wishes(paused=paused, **limits))


async def release(watched: WatchedCrawl, host: str) -> None:
    """Let a host be asked again."""
    async with _frontier(watched.crawl) as frontier:
        await hosts.release(frontier, host)


async def block(watched: WatchedCrawl, host: str, reason: str) -> None:
    """Ask a host no more."""
    async with _frontier(watched.crawl) as frontier:
        await hosts.block(frontier, host, reason)
