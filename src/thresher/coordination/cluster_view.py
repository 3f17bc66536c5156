"""One machine's view of the others that work on the same crawl: shared limits, live workers, orders to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig
from thresher.coordination.connection import CONNECT_SECONDS, connect_store
from thresher.coordination.crawl_definition import Definition, DefinitionStore
from thresher.coordination.keys import key_of
from thresher.coordination.stop_orders import StopOrders
from thresher.coordination.worker_names import machine_id
from thresher.coordination.worker_registry import WorkerRegistry, register_machine
from thresher.errors import ConfigError
from thresher.frontier.base import async_closing
from thresher.locale.translation import _


@dataclass(frozen=True, kw_only=True)
class ClusterSnapshot:
    """The state of the other machines.

    Args:
        others: Workers of other machines with a recent heartbeat.
        stop: Why all machines must stop, as the name of a reason; empty while they need not.
    """

    others: int = 0
    stop: str = ""


class ClusterView(Protocol):
    """The other machines."""

    async def preflight(self, names: Sequence[str]) -> None:
        """Check that the run can start; `names` are those of our workers."""
        ...

    async def begin(self, *, continues: bool = False) -> float:
        """Start or join a run, or continue one; return for how many seconds it has been running.

        Args:
            continues: Whether workers of other machines are in the middle of it.
        """
        ...

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        """Read the state of the others; `own` are the workers of this machine."""
        ...

    async def stop(self, reason: str) -> None:
        """Order all machines to drain and leave."""
        ...

    async def close(self) -> None: ...


class SingleMachine:
    """The view of a crawl whose frontier is a local file: there are no other machines."""

    async def preflight(self, names: Sequence[str]) -> None:
        pass

    async def begin(self, *, continues: bool = False) -> float:
        return 0.0

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        return ClusterSnapshot()

    async def stop(self, reason: str) -> None:
        pass

    async def close(self) -> None:
        pass


class SharedCluster:
    """The machines that share a store.

    Args:
        owner: Whether this machine starts the run. The owner publishes the definition and the limits of the crawl, and
            when it ends, all machines end. The others join, and may leave at any time.
    """

    def __init__(self, folder: CrawlFolder, config: CrawlConfig, options: RunOptions, *, owner: bool) -> None:
        self._folder = folder
        self._config = config
        self._options = options
        self._is_owner = owner
        self._name = config.name or folder.name
        self._mark = machine_id(folder)
        self._connection = connect_store(config.store)
        self._orders = StopOrders(self._connection, self._name)
        self._worker_registry = WorkerRegistry(self._connection, self._name)

    async def preflight(self, names: Sequence[str]) -> None:
        """Check that the run can start.

        Raises:
            StoreUnreachable: The store does not answer.
            StoreRefused: It rejects writes.
            ConfigError: Another machine uses the names of our workers, or the name of our crawl.
        """
        async with async_closing(connect_store(self._config.store, patience_seconds=CONNECT_SECONDS)) as connection:
            await connection.call("SET", key_of(self._name, "probe"), "", "PX", 1)  # does it accept writes?
            await self._refuse_taken(names, WorkerRegistry(connection, self._name))
            if self._is_owner:
                store = DefinitionStore(connection, self._name)
                await store.refuse_another(self._definition, mark=self._mark)

    async def _refuse_taken(self, names: Sequence[str], worker_registry: WorkerRegistry) -> None:
        for worker in await worker_registry.workers():
            if worker.name in names and not worker.is_silent and worker.heartbeat.mark != self._mark:
                raise ConfigError(
                    _(
                        "a worker {name} is running on {host}; choose another --name",
                        name=worker.name,
                        host=worker.heartbeat.host,
                    )
                )

    async def begin(self, *, continues: bool = False) -> float:
        await register_machine(self._connection, self._name, self._mark)
        if self._is_owner:
            await DefinitionStore(self._connection, self._name).publish(self._definition, mark=self._mark)
            if not continues:
                await self._orders.begin()
                return 0.0
        return (await self._orders.read()).seconds

    @cached_property
    def _definition(self) -> Definition:
        return Definition.of(self._folder, self._config, self._options)

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        orders, workers = await asyncio.gather(self._orders.read(), self._worker_registry.workers())
        others = sum(worker.name not in own and not worker.is_silent for worker in workers)
        return ClusterSnapshot(others=others, stop=orders.stop)

    async def stop(self, reason: str) -> None:
        await self._orders.stop(reason)

    async def close(self) -> None:
        await self._connection.close()
