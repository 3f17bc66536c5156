"""Names looked up before their turn: of the hosts at the head of the queue, so that no lease waits for one."""

from __future__ import annotations

import time
from collections.abc import Callable

from thresher.engine.resolver import GuardedResolver, place_of
from thresher.frontier.base import Frontier
from thresher.line import Bounds

EVERY_SECONDS = 1.0
SHARE_OF_TIME = 0.02
"""A large queue is looked at less often, so that looking never takes more of a worker's time than this."""
HOSTS_PER_SLOT = 4
"""How far ahead it is looked."""


class Ahead:
    """Looks ahead for one worker, at most once a second, and cheaply.

    Args:
        scope: Whose names may be looked up; None for all.
    """

    def __init__(
        self,
        frontier: Frontier,
        slots: int,
        *,
        scope: Bounds | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._frontier = frontier
        self._scope = scope
        self._hosts = slots * HOSTS_PER_SLOT
        self._clock = clock
        self._next = 0.0

    async def look(self) -> None:
        """Begin to look up the names of the hosts that are next, if it is time to; answers are not waited for."""
        now = self._clock()
        if now >= self._next and (resolver := guarded_resolver()):
            hosts = await self._frontier.next_hosts(self._hosts)
            self._next = now + max(EVERY_SECONDS, (self._clock() - now) / SHARE_OF_TIME)
            inside = [host for host in hosts if not self._scope or not self._scope.allows(f"http://{host}/", 0)]
            resolver.look_ahead(dict.fromkeys(place_of(f"https://{host}/") for host in inside))


def guarded_resolver() -> GuardedResolver | None:
    """Return the resolver of this process; None when names go nowhere else than to a lab."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return resolver if isinstance(resolver, GuardedResolver) and resolver.asks else None
