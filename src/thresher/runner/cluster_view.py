"""One machine's view of the others that work on the same crawl: shared limits, live workers, orders to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from thresher.coordination.connection import CONNECT_SECONDS
from thresher.coordination.crawl_definition import Definition, DefinitionStore
from thresher.coordination.keys import key_of
from thresher.coordination.run_control import RunControl, begin, initial_limits
from thresher.coordination.stop_orders import StopOrders
from thresher.coordination.worker_names import machine_mark
from thresher.coordination.worker_registry import WorkerRegistry, register_machine
from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore
from thresher.project import CrawlProject
from thresher.runner.limits import Limits, StopReason

N = TypeVar("N", int, float)


@dataclass(frozen=True, kw_only=True)
class ClusterSnapshot:
    """The state of the other machines.

    Args:
        others: Workers of other machines with a recent heartbeat.
        stop: Why all machines must stop; None while they need not.
    """

    others: int = 0
    stop: StopReason | None = None


class ClusterView(Protocol):
    """The other machines."""

    async def preflight(self, names: Sequence[str]) -> None:
        """Check that the run can start; `names` are those of our workers."""
        ...

    async def begin(self) -> float:
        """Start or join a run; return for how many seconds it has been running."""
        ...

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        """Read the state of the others; `own` are the workers of this machine."""
        ...

    async def stop(self, ending: StopReason) -> None:
        """Order all machines to drain and leave."""
        ...

    async def close(self) -> None: ...


class SingleMachine:
    """The view of a crawl whose frontier is a local file: there are no other machines."""

    async def preflight(self, names: Sequence[str]) -> None:
        pass

    async def begin(self) -> float:
        return 0.0

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        return ClusterSnapshot()

    async def stop(self, ending: StopReason) -> None:
        pass

    async def close(self) -> None:
        pass


class SharedCluster:
    """The machines that share a store.

    Args:
        owner: Whether this machine starts the run. The owner publishes the definition and the limits of the crawl, and
            when it ends, all machines end. The others join, and may leave at any time.
    """

    def __init__(self, crawl: CrawlProject, *, owner: bool) -> None:
        self._crawl = crawl
        self._is_owner = owner
        self._mark = machine_mark(crawl.folder)
        self._connection = crawl.connection()
        self._orders = StopOrders(self._connection, crawl.name)
        self._worker_registry = WorkerRegistry(self._connection, crawl.name)

    async def preflight(self, names: Sequence[str]) -> None:
        """Check that the run can start.

        Raises:
            StoreUnreachable: The store does not answer.
            StoreRefused: It rejects writes.
            ConfigError: Another machine uses the names of our workers, or the name of our crawl.
        """
        connection = self._crawl.connection(patience_seconds=CONNECT_SECONDS)
        try:
            await connection.call("SET", key_of(self._crawl.name, "probe"), "", "PX", 1)  # does it accept writes?
            await self._refuse_taken(names, WorkerRegistry(connection, self._crawl.name))
            if self._is_owner:
                store = DefinitionStore(connection, self._crawl.name)
                await store.refuse_another(self._definition, mark=self._mark)
        finally:
            await connection.close()

    async def _refuse_taken(self, names: Sequence[str], worker_registry: WorkerRegistry) -> None:
        for worker in await worker_registry.workers():
            if worker.name in names and not worker.is_silent and worker.heartbeat.mark != self._mark:
                raise ConfigError(
                    f"a worker {worker.name} is running on {worker.heartbeat.host}; choose another --name"
                )

    async def begin(self) -> float:
        await register_machine(self._connection, self._crawl.name, self._mark)
        if self._is_owner:
            await DefinitionStore(self._connection, self._crawl.name).publish(self._definition, mark=self._mark)
            await self._orders.begin()
            return 0.0
        return (await self._orders.read()).seconds

    @cached_property
    def _definition(self) -> Definition:
        return Definition.of(self._crawl.folder, self._crawl.config, self._crawl.changes)

    async def snapshot(self, own: Collection[str]) -> ClusterSnapshot:
        orders, workers = await asyncio.gather(self._orders.read(), self._worker_registry.workers())
        others = sum(worker.name not in own and not worker.is_silent for worker in workers)
        return ClusterSnapshot(others=others, stop=_ending(orders.stop))

    async def stop(self, ending: StopReason) -> None:
        await self._orders.stop(ending.name)

    async def close(self) -> None:
        await self._connection.close()


async def negotiate_limits(frontier: CrawlStore, own: Limits, *, owner: bool) -> Limits:
    """Publish the limits of a run as its owner, or read the owner's; return the limits that apply on this machine."""
    if owner:
        await begin(frontier, RunControl(**asdict(own)))
        return own
    return strictest(own, (await initial_limits(frontier)).limits())


def strictest(own: Limits, common: Mapping[str, float | None]) -> Limits:
    """Return the stricter one of each pair of limits."""
    pages, relevant = common.get("pages"), common.get("relevant")
    return Limits(
        pages=_first(min, own.pages, None if pages is None else int(pages)),
        relevant=_first(min, own.relevant, None if relevant is None else int(relevant)),
        minutes=_first(min, own.minutes, common.get("minutes")),
        harvest_below=_first(max, own.harvest_below, common.get("harvest_below")),
    )


def _first(choose: Callable[[N, N], N], one: N | None, other: N | None) -> N | None:
    if one is None or other is None:
        return other if one is None else one
    return choose(one, other)


def _ending(name: str) -> StopReason | None:
    """Read an order to stop; an unknown reason still stops the run."""
    if not name:
        return None
    return StopReason[name] if name in StopReason.__members__ else StopReason.STOPPED
