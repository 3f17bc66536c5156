"""What others than its supervisors see of a run: its workers, its duration, and who else has pages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thresher.config.folder import CrawlFolder
from thresher.coordination.keys import StoreConnection
from thresher.coordination.local_workers import read_workers
from thresher.coordination.stop_orders import StopOrders
from thresher.coordination.worker_names import machine_id
from thresher.coordination.worker_registry import RegisteredWorker, WorkerRegistry, machines
from thresher.frontier.base import StateReader


@dataclass(frozen=True, kw_only=True)
class OtherMachines:
    """What other machines mean for a check of this one.

    Args:
        are_working: Whether any worker is running now, except processes of this folder alone.
        have_pages: Whether pages may be stored elsewhere.
    """

    are_working: bool = False
    have_pages: bool = False


class RunView(Protocol):
    """A run, seen from outside."""

    async def registered_workers(self) -> Sequence[RegisteredWorker] | None:
        """Return the workers with their heartbeats; None where all are processes of this machine."""
        ...

    async def active_workers(self, frontier: StateReader) -> list[str]:
        """Return the names of the workers that are at work."""
        ...

    async def is_idle(self) -> bool:
        """Return whether nobody works on the crawl."""
        ...

    async def seconds(self) -> float:
        """Return for how long the run has been under way; 0 when unknown."""
        ...

    async def other_machines(self) -> OtherMachines:
        """Return whether others work, or have pages."""
        ...

    async def close(self) -> None: ...


class LocalRun:
    """A run on this machine, known by its lock and by the workers that it publishes through the frontier."""

    def __init__(self, folder: CrawlFolder) -> None:
        self._folder = folder

    async def registered_workers(self) -> Sequence[RegisteredWorker] | None:
        return None

    async def active_workers(self, frontier: StateReader) -> list[str]:
        return [worker.name for worker in await read_workers(frontier)]

    async def is_idle(self) -> bool:
        return not self._folder.runner()

    async def seconds(self) -> float:
        try:
            return time.time() - self._folder.lock.stat().st_mtime
        except OSError:
            return 0.0

    async def other_machines(self) -> OtherMachines:
        return OtherMachines()

    async def close(self) -> None:
        pass


class SharedRun:
    """A run of several machines, known by what they record in their store."""

    def __init__(self, connection: StoreConnection, crawl: str, folder: CrawlFolder) -> None:
        self._connection = connection
        self._crawl = crawl
        self._folder = folder
        self._registry = WorkerRegistry(connection, crawl)

    async def registered_workers(self) -> Sequence[RegisteredWorker] | None:
        return await self._registry.workers()

    async def active_workers(self, frontier: StateReader) -> list[str]:
        return [worker.name for worker in await self._registry.workers() if not worker.is_silent]

    async def is_idle(self) -> bool:
        return all(worker.is_silent for worker in await self._registry.workers())

    async def seconds(self) -> float:
        return (await StopOrders(self._connection, self._crawl).read()).seconds

    async def other_machines(self) -> OtherMachines:
        workers, marks = await self._registry.workers(), await machines(self._connection, self._crawl)
        has_all = self._folder.mark.is_file() and marks == {machine_id(self._folder)}
        return OtherMachines(are_working=any(not worker.is_silent for worker in workers), have_pages=not has_all)

    async def close(self) -> None:
        await self._connection.close()
