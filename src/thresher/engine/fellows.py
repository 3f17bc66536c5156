"""The other machines of a crawl, as one of them sees them: what holds for all, who is there, and the word to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Protocol, TypeVar

from thresher.build import Crawl
from thresher.engine.progress import Ending, Limits
from thresher.errors import ConfigError
from thresher.fleet.definition import Definition, DefinitionStore
from thresher.fleet.keys import key_of
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.names import machine_mark
from thresher.fleet.orders import OrderBook
from thresher.fleet.roster import Roster, take_part
from thresher.frontier.base import Frontier
from thresher.wishes import Wishes, begin, begun_with

N = TypeVar("N", int, float)


@dataclass(frozen=True, kw_only=True)
class Glance:
    """What one machine sees of the others.

    Args:
        others: How many workers of other machines were heard of lately.
        stop: Why all must stop; None while they need not.
    """

    others: int = 0
    stop: Ending | None = None


class Fellows(Protocol):
    """The other machines."""

    async def greet(self, names: Sequence[str]) -> None:
        """Find out before anything begins whether it can; `names` are those of our workers."""
        ...

    async def begin(self) -> float:
        """Begin or join a run; return for how many seconds it has been running."""
        ...

    async def look(self, own: Collection[str]) -> Glance:
        """Look what the others are about; `own` are the workers of this machine."""
        ...

    async def stop(self, ending: Ending) -> None:
        """Tell all machines to drain and leave."""
        ...

    async def close(self) -> None:
        """Let go of the store."""
        ...


class Alone:
    """No other machines: a crawl whose queue is a file."""

    async def greet(self, names: Sequence[str]) -> None:
        """Nobody is to be reached."""

    async def begin(self) -> float:
        """Begin a run."""
        return 0.0

    async def look(self, own: Collection[str]) -> Glance:
        """See nobody."""
        return Glance()

    async def stop(self, ending: Ending) -> None:
        """Tell nobody."""

    async def close(self) -> None:
        """Nothing is open."""


class StoreFellows:
    """The machines that share a store.

    Args:
        owner: Whether this machine begins the run: it says what the crawl is and when it ends, and its end is
            everybody's. Others join, and may leave as they like.
    """

    def __init__(self, crawl: Crawl, *, owner: bool) -> None:
        self._crawl = crawl
        self._is_owner = owner
        self._mark = machine_mark(crawl.folder)
        self._link = crawl.link()
        self._orders = OrderBook(self._link, crawl.name)
        self._roster = Roster(self._link, crawl.name)

    async def greet(self, names: Sequence[str]) -> None:
        """Find out before anything begins whether it can.

        Raises:
            StoreUnreachable: The store is not there.
            StoreRefused: It takes no writes.
            ConfigError: Somebody else has the names of our workers, or the name of our crawl.
        """
        link = self._crawl.link(patience_seconds=HELLO_SECONDS)
        try:
            await link.call("SET", key_of(self._crawl.name, "probe"), "", "PX", 1)  # whether it takes writes
            await self._refuse_taken(names, Roster(link, self._crawl.name))
            if self._is_owner:
                store = DefinitionStore(link, self._crawl.name)
                await store.refuse_another(self._definition, mark=self._mark)
        finally:
            await link.close()

    async def _refuse_taken(self, names: Sequence[str], roster: Roster) -> None:
        for worker in await roster.workers():
            if worker.name in names and not worker.is_silent and worker.sign.mark != self._mark:
                raise ConfigError(f"a worker {worker.name} is at work on {worker.sign.host}; choose another --name")

    async def begin(self) -> float:
        """Begin or join a run."""
        await take_part(self._link, self._crawl.name, self._mark)
        if self._is_owner:
            await DefinitionStore(self._link, self._crawl.name).publish(self._definition, mark=self._mark)
            await self._orders.begin()
            return 0.0
        return (await self._orders.read()).seconds

    @cached_property
    def _definition(self) -> Definition:
        return Definition.of(self._crawl.folder, self._crawl.config, self._crawl.changes)

    async def look(self, own: Collection[str]) -> Glance:
        """Look what the others are about."""
        orders, workers = await asyncio.gather(self._orders.read(), self._roster.workers())
        others = sum(worker.name not in own and not worker.is_silent for worker in workers)
        return Glance(others=others, stop=_ending(orders.stop))

    async def stop(self, ending: Ending) -> None:
        """Tell all machines to drain and leave."""
        await self._orders.stop(ending.name)

    async def close(self) -> None:
        """Let go of the store."""
        await self._link.close()


async def agree(frontier: Frontier, own: Limits, *, owner: bool) -> Limits:
    """Say for all machines when a run ends, or hear it from the one that began; return what holds here."""
    if owner:
        await begin(frontier, Wishes(**asdict(own)))
        return own
    return stricter(own, (await begun_with(frontier)).limits())


def stricter(own: Limits, common: Mapping[str, float | None]) -> Limits:
    """Return the limits of which each is the one that is reached first."""
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


def _ending(name: str) -> Ending | None:
    """Read an order to stop; one that cannot be understood is still obeyed."""
    if not name:
        return None
    return Ending[name] if name in Ending.__members__ else Ending.STOPPED
