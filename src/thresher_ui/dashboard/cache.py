"""A cache with TTL for asynchronous results: concurrent requests for a key share one computation."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Any

MAX_ENTRIES = 256


class SharedCache:
    """A cache of at most `MAX_ENTRIES` results, the least recently used dropped first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._results: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[Any]], *, seconds: float) -> Any:
        """Return a result that is no older than `seconds`, counted from the start of its computation.

        A computation that failed is not cached.
        """
        began, result = self._results.get(key, (float("-inf"), None))
        is_usable = result is not None and not (result.done() and (result.cancelled() or result.exception()))
        if result is None or not is_usable or (result.done() and self._clock() - began > seconds):
            result = asyncio.ensure_future(compute())
            result.add_done_callback(_retrieve_exception)
            self._results[key] = self._clock(), result
            while len(self._results) > MAX_ENTRIES:
                self._results.popitem(last=False)
        self._results.move_to_end(key)
        return await asyncio.shield(result)  # a cancelled request must not cancel the others

    def clear(self) -> None:
        """Drop all results."""
        self._results.clear()


def _retrieve_exception(result: asyncio.Future[Any]) -> None:
    """Mark an exception as retrieved: all who waited for it may have been cancelled."""
    if not result.cancelled():
        result.exception()
