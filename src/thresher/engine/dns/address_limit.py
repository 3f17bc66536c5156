"""One request at a time per IP address, for hosts that share a server, where the user enables it.

The lock is in the store, so it applies to all workers and machines.
"""

from __future__ import annotations

from thresher.engine.dns.resolver import GuardedResolver
from thresher.frontier.base import SharedState
from thresher.records import Lease

MAX_WAIT_SECONDS = 2.0
"""The holder of a lock may release it long before its lease expires, so no longer wait is returned."""


class AddressLimiter:
    """The locks of addresses that a worker's open leases hold.

    Args:
        seconds: Expiry of a lock that is not released: the duration of a lease.
    """

    def __init__(self, frontier: SharedState, resolver: GuardedResolver, *, seconds: float) -> None:
        self._frontier = frontier
        self._resolver = resolver
        self._seconds = seconds
        self._locked: dict[int, str] = {}

    async def acquire_lock(self, lease: Lease) -> float:
        """Lock the address of a lease; return 0, or the seconds to wait when it is locked or was just now."""
        address = await self._resolver.first_address(lease.url)
        if not address:  # the request is refused or fails anyway
            return 0.0
        wait = await self._frontier.acquire_lock(address, seconds=self._seconds)
        if not wait:
            self._locked[lease.fence] = address
        return min(wait, MAX_WAIT_SECONDS)

    async def release_lock(self, lease: Lease, *, delay_seconds: float) -> None:
        """Release the lock of a lease, after a delay."""
        if address := self._locked.pop(lease.fence, ""):
            await self._frontier.release_lock(address, delay_seconds=delay_seconds)
