"""How a worker leaves: it finishes what is open, but not for ever, and gives the rest back, if the store can be told.

After the first SIGTERM Scrapy lets open requests finish. When they, or the store, take longer than a drain may, the
loop is stopped as after a second SIGTERM. What is not given back in time ends by itself, with its lease.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from thresher.errors import StoreError

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
"""With what follows it makes less than the half minute after which the supervisor uses force."""
GIVE_BACK_SECONDS = 3.0
"""After a second SIGTERM there is no more time than this."""


class Leaving:
    """Watches over the end of a worker.

    Args:
        is_running: Whether new requests are still taken on.
        stop: Stops the loop, whatever is open.
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
        """Whether the worker is on its way out."""
        return self._since is not None

    def look(self) -> None:
        """Stop the loop when the drain takes too long; to be called every second."""
        if self._is_running():
            self._was_running = True
        elif self._was_running and self._since is None:
            self._since = self._clock()
        elif self._since is not None and self._clock() - self._since >= DRAIN_SECONDS:
            logger.warning("not everything could be finished in time; the rest goes back")
            self._stop()


async def in_time(telling: Awaitable[None], *, seconds: float = GIVE_BACK_SECONDS) -> bool:
    """Tell the store something, unless it does not listen; what is not told ends with its lease."""
    try:
        await asyncio.wait_for(telling, seconds)
    except (TimeoutError, StoreError) as error:
        logger.warning("the store could not be told in time what goes back: %s", error or "no answer")
        return False
    return True
