"""A worker's sign of life in the store: who it is, how many pages it has settled, what it is doing.

It is given in the worker's own loop, so a worker that stands still falls silent. A store that does not answer is not
waited for: the next beat comes in a few seconds.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from thresher.errors import StoreError
from thresher.fleet.keys import Link
from thresher.fleet.roster import BEAT_SECONDS, Roster, Sign

GOODBYE_SECONDS = 1.0


class Pulse:
    """Says every few seconds that a worker lives.

    Args:
        link: A connection that gives up soon.
        mark: What tells the worker's folder from those of other machines.
    """

    def __init__(self, link: Link, crawl: str, worker: str, *, mark: str) -> None:
        self._link = link
        self._roster = Roster(link, crawl)
        self._worker = worker
        self._sign = Sign(host=socket.gethostname(), mark=mark, pid=os.getpid(), since=time.time())
        self._task: asyncio.Task[None] | None = None

    def start(self, state: Callable[[], tuple[int, str]]) -> None:
        """Begin to beat in the running loop; `state` says how many pages there are, and what is being done."""
        self._task = asyncio.get_running_loop().create_task(self._beat(state))

    async def _beat(self, state: Callable[[], tuple[int, str]]) -> None:
        while True:
            pages, doing = state()
            with suppress(StoreError, TimeoutError):
                sign = replace(self._sign, pages=pages, state=doing)
                await asyncio.wait_for(self._roster.beat(self._worker, sign), BEAT_SECONDS)
            await asyncio.sleep(BEAT_SECONDS)

    def stop(self) -> None:
        """Beat no more."""
        if self._task is not None:
            self._task.cancel()

    async def leave(self, *, told: bool) -> None:
        """Take the worker off the list, if the store could be told of what went back."""
        with suppress(StoreError, TimeoutError):
            if told:
                await asyncio.wait_for(self._roster.leave(self._worker), GOODBYE_SECONDS)
        await self._link.close()
