"""The drain of a worker, and the wait for the end of a run.

A worker that leaves finishes its open requests within a time limit, and releases the remaining leases if the store
answers. After the first SIGTERM open requests are finished. When they, or the store, take longer than the drain
may, the loop is stopped as after a second SIGTERM. Leases that are not released in time expire.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from thresher.crawl import CrawlSetup
from thresher.errors import StoreError, ThresherError
from thresher.locale.translation import _

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
"""Together with the release of leases it stays below the 30 seconds after which the supervisor kills workers."""
RELEASE_SECONDS = 3.0
"""Time for the release of leases; after a second SIGTERM there is no more than this."""
END_SECONDS = 45.0
"""Longer than workers may take to drain."""
POLL_SECONDS = 0.1


class DrainTimer:
    """Limits the time of a worker's drain.

    Args:
        is_running: Whether new requests are still accepted.
        stop: Stops the event loop at once.
    """

    def __init__(
        self,
        *,
        is_running: Callable[[], bool],
        stop: Callable[[], Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._is_running = is_running
        self._stop = stop
        self._clock = clock
        self._was_running = False
        self._since: float | None = None

    @property
    def has_begun(self) -> bool:
        return self._since is not None

    def check(self) -> None:
        """Stop the loop when the drain takes too long; call every second."""
        if self._is_running():
            self._was_running = True
        elif self._was_running and self._since is None:
            self._since = self._clock()
        elif self._since is not None and self._clock() - self._since >= DRAIN_SECONDS:
            logger.warning("the drain took too long; open leases are released")
            self._stop()


async def run_with_timeout(operation: Awaitable[None], *, seconds: float = RELEASE_SECONDS) -> bool:
    """Await a store operation with a timeout; return whether it succeeded. Leases that it leaves open expire."""
    try:
        await asyncio.wait_for(operation, seconds)
    except (TimeoutError, StoreError) as error:
        logger.warning("gave up on a store operation: %s", error or "no answer")
        return False
    return True


def wait_until_stopped(crawl: CrawlSetup, *, reaction_seconds: float = 5.0, end_seconds: float = END_SECONDS) -> None:
    """Wait until the run on this machine has ended, after it was signalled to stop.

    Args:
        reaction_seconds: How long the signal may stay pending; a suspended process never handles it.
        end_seconds: How long the run may take to end.

    Raises:
        ThresherError: The run does not react, or has not ended in time.
    """
    start, root = time.monotonic(), crawl.folder.root
    while runner := crawl.folder.runner():
        seconds = time.monotonic() - start
        if seconds > reaction_seconds and _has_pending(runner, signal.SIGTERM):
            raise ThresherError(
                _(
                    "the run of {folder} (process {process}) does not react to SIGTERM, sent {seconds:.0f} s ago. "
                    "If it is suspended, let it go on: kill -CONT {process}",
                    folder=root,
                    process=runner,
                    seconds=seconds,
                )
            )
        if seconds > end_seconds:
            raise ThresherError(
                _(
                    "the run of {folder} (process {process}) has not ended, {seconds:.0f} s after SIGTERM. "
                    "Wait, or end it at once: kill -9 {process}",
                    folder=root,
                    process=runner,
                    seconds=seconds,
                )
            )
        time.sleep(POLL_SECONDS)


def _has_pending(process: int, number: signal.Signals) -> bool:
    """Return whether a signal is still pending for a process; False where the system does not report it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)
