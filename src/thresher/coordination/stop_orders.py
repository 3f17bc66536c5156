"""The start time of a run and the order to stop it, for all machines. Limits are in `run_control`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from thresher.coordination.keys import StoreConnection, key_of, store_time, text_of

BY_USER = "STOPPED"
"""The reason of an order that a user gives."""


@dataclass(frozen=True)
class OrderSnapshot:
    """The state of a run.

    Args:
        seconds: Since its start.
        stop: Why all machines must stop, as the name of a `StopReason`; empty while they need not.
    """

    seconds: float = 0.0
    stop: str = ""


class StopOrders:
    """The orders of one crawl."""

    def __init__(self, connection: StoreConnection, crawl: str) -> None:
        self._connection = connection
        self._run = key_of(crawl, "run")
        self._stop = key_of(crawl, "stop")

    async def begin(self) -> None:
        """Start a run, and delete an order to stop the previous one."""
        since = await store_time(self._connection, self._run)
        await self._connection.call("SET", self._run, json.dumps({"since": since}))
        await self._connection.call("DEL", self._stop)

    async def stop(self, why: str) -> None:
        """Order all machines to drain and leave; the first reason is kept."""
        await self._connection.call("SET", self._stop, why, "NX")

    async def read(self) -> OrderSnapshot:
        run, stop, now = await asyncio.gather(
            self._connection.call("GET", self._run),
            self._connection.call("GET", self._stop),
            store_time(self._connection, self._run),
        )
        return OrderSnapshot(max(0.0, now - _since(text_of(run), now)), text_of(stop))


def _since(entry: str, otherwise: float) -> float:
    """Return when the run started; `otherwise` when that cannot be read."""
    try:
        since = json.loads(entry)["since"]
    except (ValueError, TypeError, KeyError):
        return otherwise
    return since if isinstance(since, int | float) and not isinstance(since, bool) else otherwise
