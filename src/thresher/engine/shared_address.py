"""Many names, one server: where the user wants it, an address is asked one thing at a time, whatever names it has.

The gate is in the store, so it holds over all workers and machines.
"""

from __future__ import annotations

from thresher.engine.resolver import GuardedResolver
from thresher.frontier.base import Frontier
from thresher.records import Lease

LONGEST_WAIT_SECONDS = 2.0
"""Whoever is at a server may leave it long before its lease is over, so nobody waits for that."""


class SharedAddress:
    """The gates that a worker's open leases went through.

    Args:
        seconds: How long a lease holds its gate when nothing is heard of it again: as long as a lease lasts.
    """

    def __init__(self, frontier: Frontier, *, seconds: float) -> None:
        self._frontier = frontier
        self._seconds = seconds
        self._entered: dict[int, str] = {}

    async def enter(self, lease: Lease) -> float:
        """Let a lease go to its server; the seconds to wait when somebody else is there, or was just now."""
        address = await address_of(lease.url)
        if not address:  # it will not be asked, or fail by itself
            return 0.0
        wait = await self._frontier.enter(address, seconds=self._seconds)
        if not wait:
            self._entered[lease.fence] = address
        return min(wait, LONGEST_WAIT_SECONDS)

    async def leave(self, lease: Lease, *, delay_seconds: float) -> None:
        """Say that a lease has been at its server."""
        if address := self._entered.pop(lease.fence, ""):
            await self._frontier.leave(address, delay_seconds=delay_seconds)


async def address_of(url: str) -> str:
    """Return the address that a URL's request would go to first; empty when there is none."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return await resolver.first_address(url) if isinstance(resolver, GuardedResolver) else ""
