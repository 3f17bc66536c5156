"""A worker's heartbeat in a shared store: who it is, how many pages it has settled, what it is doing.

It is sent from the worker's own event loop, so a worker that hangs falls silent. A heartbeat that the store does not
answer in time is dropped: the next one follows in a few seconds.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from thresher.coordination.keys import StoreConnection
from thresher.coordination.worker_registry import HEARTBEAT_SECONDS, Heartbeat, WorkerRegistry
from thresher.errors import StoreError

DEREGISTER_SECONDS = 1.0


class HeartbeatTask:
    """Sends a heartbeat every few seconds.

    Args:
        connection: A connection that gives up soon.
        mark: Identifies the worker's folder among those of all machines.
    """

    def __init__(self, connection: StoreConnection, crawl: str, worker: str, *, mark: str) -> None:
        self._connection = connection
        self._worker_registry = WorkerRegistry(connection, crawl)
        self._worker = worker
        self._heartbeat = Heartbeat(host=socket.gethostname(), mark=mark, pid=os.getpid(), since=time.time())
        self._task: asyncio.Task[None] | None = None

    def start(self, state: Callable[[], tuple[int, str]]) -> None:
        """Start in the running loop; `state` returns the number of settled pages and what the worker is doing."""
        self._task = asyncio.get_running_loop().create_task(self._run(state))

    async def _run(self, state: Callable[[], tuple[int, str]]) -> None:
        while True:
            pages, doing = state()
            with suppress(StoreError, TimeoutError):
                heartbeat = replace(self._heartbeat, pages=pages, state=doing)
                await asyncio.wait_for(
                    self._worker_registry.record_heartbeat(self._worker, heartbeat), HEARTBEAT_SECONDS
                )
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def deregister(self, *, released: bool) -> None:
        """Remove the worker from the registry, if its leases were released."""
        with suppress(StoreError, TimeoutError):
            if released:
                await asyncio.wait_for(self._worker_registry.deregister(self._worker), DEREGISTER_SECONDS)
        await self._connection.close()
