"""What a user of the dashboard can do to a crawl: start, stop and pause it, set its limits, release and block hosts."""

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

from thresher.assembly import check_crawl
from thresher.coordination.run_control import RunControl, read_run_control, set_run_control
from thresher.crawl import CrawlSetup
from thresher.frontier.base import CrawlStore
from thresher.locale.translation import _
from thresher.operations import hosts
from thresher.runner.limits import NOT_UPLOADED, NOTHING_FETCHED, StopReason
from thresher_ui.dashboard.errors import Refused
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.views.status import status

START_SECONDS = 15.0
"""How long to wait for a run to begin, or to fail."""
POLL_SECONDS = 0.1
OUTPUT = "run.log"
"""Standard output and error of runs that the dashboard starts, beside the log of the crawl."""
KEPT_BACK = ("THRESHER_UI_TOKEN",)
"""Environment variables that are not passed on to a run."""


@asynccontextmanager
async def _frontier(crawl: CrawlSetup) -> AsyncIterator[CrawlStore]:
    """Open the frontier in a thread: the strategy, which says how scores are combined, may be slow to build."""
    async with crawl.connect() as connected:
        yield await asyncio.to_thread(lambda: connected.frontier)


async def control(
    open_crawl: OpenCrawl, *, do: str, pages: int | None = None, minutes: float | None = None, workers: int = 1
) -> None:
    """Start, pause, resume or stop a crawl; the other arguments are for a start.

    Raises:
        Refused: It cannot be done in the current state of the crawl.
    """
    before = await status(open_crawl)
    if do not in before["can"]:
        raise Refused(409, _("the crawl is {state}; {do} is not possible now", state=_(before["state"]), do=_(do)))
    if do == "start":
        await _start(open_crawl, {"--workers": workers, "--pages": pages, "--minutes": minutes})
    elif do == "stop":
        await open_crawl.crawl.backend.stop_run()
    else:
        async with _frontier(open_crawl.crawl) as frontier:
            await set_run_control(frontier, replace(await read_run_control(frontier), paused=do == "pause"))


async def _start(open_crawl: OpenCrawl, flags: Mapping[str, Any]) -> None:
    """Start a run in a process of its own, which continues when the dashboard ends."""
    crawl = open_crawl.crawl
    if not open_crawl.is_startable:
        raise Refused(409, _("this crawl was started on another machine; start it there"))
    if crawl.folder.runner():
        raise Refused(409, _("a run of this crawl is under way"))
    await asyncio.to_thread(check_crawl, crawl)
    given = [str(part) for flag, value in flags.items() if value is not None for part in (flag, value)]
    process = await asyncio.to_thread(_spawn, crawl, given)
    for _try in range(int(START_SECONDS / POLL_SECONDS)):
        if crawl.folder.runner() == process.pid:
            return
        if (code := process.returncode) is not None:
            _check_ending(code)
            return
        await asyncio.sleep(POLL_SECONDS)


def _check_ending(code: int) -> None:
    if code not in {NOTHING_FETCHED, NOT_UPLOADED, *(reason.exit_code for reason in StopReason)}:
        ended = _(
            "the run ended at once, with exit code {code}; see {file} in the crawl's folder", code=code, file=OUTPUT
        )
        raise Refused(409, ended)


def _spawn(crawl: CrawlSetup, flags: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "thresher", "run", str(crawl.folder.root.resolve()), *flags]
    environment = {name: value for name, value in os.environ.items() if name not in KEPT_BACK}
    environment |= crawl.backend.environment()  # a password must not appear on a command line
    output = os.open(crawl.folder.root / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(  # noqa: S603 - our own command; only numbers come from a request
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True
        )
    finally:
        os.close(output)
    threading.Thread(target=process.wait, name="run", daemon=True).start()  # sets its return code
    return process


async def set_budgets(open_crawl: OpenCrawl, **limits: Any) -> None:
    """Replace the limits of the current run; None keeps the limit that the run was started with.

    Raises:
        Refused: No run is under way.
    """
    if "budgets" not in (await status(open_crawl))["can"]:
        raise Refused(409, _("no run is under way; set the limits when you start one"))
    async with _frontier(open_crawl.crawl) as frontier:
        paused = (await read_run_control(frontier)).paused
        await set_run_control(frontier, RunControl(paused=paused, **limits))


async def release(open_crawl: OpenCrawl, *, host: str) -> None:
    """Let the crawl fetch from a parked host again."""
    async with _frontier(open_crawl.crawl) as frontier:
        await hosts.release(frontier, host.lower())


async def block(open_crawl: OpenCrawl, *, host: str, reason: str) -> None:
    """Send no more requests to a host."""
    async with _frontier(open_crawl.crawl) as frontier:
        await hosts.block(frontier, host.lower(), reason)
