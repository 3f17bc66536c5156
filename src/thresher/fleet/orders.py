"""What holds for all machines of a crawl: since when it runs, and the order to stop. Its limits are in `wishes`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from thresher.fleet.keys import Link, key_of, store_time, text_of


@dataclass(frozen=True)
class Orders:
    """What a machine must know of a run.

    Args:
        seconds: For how long it runs.
        stop: Why all must stop, as the name of an ending; empty while they need not.
    """

    seconds: float = 0.0
    stop: str = ""


class OrderBook:
    """The orders of one crawl."""

    def __init__(self, link: Link, crawl: str) -> None:
        self._link = link
        self._run = key_of(crawl, "run")
        self._stop = key_of(crawl, "stop")

    async def begin(self) -> None:
        """Begin a run: an order to stop the last one holds no longer."""
        since = await store_time(self._link, self._run)
        await self._link.call("SET", self._run, json.dumps({"since": since}))
        await self._link.call("DEL", self._stop)

    async def stop(self, why: str) -> None:
        """Order all machines to drain and leave; the first reason that is given stays."""
        await self._link.call("SET", self._stop, why, "NX")

    async def read(self) -> Orders:
        """Return what holds now."""
        run, stop, now = await asyncio.gather(
            self._link.call("GET", self._run), self._link.call("GET", self._stop), store_time(self._link, self._run)
        )
        return Orders(max(0.0, now - _since(text_of(run), now)), text_of(stop))


def _since(entry: str, otherwise: float) -> float:
    """Read when the run began; one that cannot be read begins now."""
    try:
        since = json.loads(entry)["since"]
    except (ValueError, TypeError, KeyError):
        return otherwise
    return since if isinstance(since, int | float) and not isinstance(since, bool) else otherwise
