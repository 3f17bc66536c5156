"""How somebody who is not the run itself stops it: by an order to all machines, or by a signal to the one that runs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from thresher.build import Crawl
from thresher.engine.progress import Ending
from thresher.errors import ThresherError
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.orders import OrderBook

END_SECONDS = 45.0
"""Longer than workers may take to finish what is open."""
POLL_SECONDS = 0.1


async def stop(crawl: Crawl) -> None:
    """Let the workers of a crawl finish what is open and leave, wherever they are.

    Raises:
        ThresherError: No run is under way on this machine, and no other machine shares the crawl.
        StoreLost: The shared store no longer holds the crawl.
    """
    if crawl.is_shared:
        await _order(crawl)
        return
    runner = crawl.folder.runner()
    if not runner:
        raise ThresherError(f"no run of {crawl.folder.root} is under way")
    os.kill(runner, signal.SIGTERM)


def wait_until_stopped(crawl: Crawl, *, reaction_seconds: float = 5.0, end_seconds: float = END_SECONDS) -> None:
    """Wait until the run on this machine has ended, after it was told to stop.

    Args:
        reaction_seconds: How long the process may leave the signal unanswered; one that is suspended never answers.
        end_seconds: How long it may take to end.

    Raises:
        ThresherError: It does not react, or has not ended in time.
    """
    start, root = time.monotonic(), crawl.folder.root
    while runner := crawl.folder.runner():
        seconds = time.monotonic() - start
        if seconds > reaction_seconds and _has_pending(runner, signal.SIGTERM):
            raise ThresherError(
                f"the run of {root} (process {runner}) does not react: it was told to stop {seconds:.0f} s "
                f"ago. If it is suspended, let it go on: kill -CONT {runner}"
            )
        if seconds > end_seconds:
            raise ThresherError(
                f"the run of {root} (process {runner}) was told to stop {seconds:.0f} s ago and has not ended"
            )
        time.sleep(POLL_SECONDS)


def _has_pending(process: int, number: signal.Signals) -> bool:
    """Whether a signal still waits to be taken by a process; False where the system does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


async def _order(crawl: Crawl) -> None:
    frontier = crawl.frontier()
    try:
        await frontier.counts()  # a store that has lost the crawl has nobody to stop
    finally:
        await frontier.close()
    link = crawl.link(patience_seconds=HELLO_SECONDS)
    try:
        await OrderBook(link, crawl.name).stop(Ending.STOPPED.name)
    finally:
        await link.close()
