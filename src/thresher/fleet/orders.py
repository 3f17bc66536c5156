"""What holds for all machines of a crawl: when it ends, since when it runs, and the order to stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.fleet.keys import Link, key_of, store_time, text_of


@dataclass(frozen=True)
class Orders:
    """What a machine must know of a run.

    Args:
        limits: When the run ends, by the names of the rules; None where nothing is limited.
        seconds: For how long it runs.
        stop: Why all must stop, as the name of an ending; empty while they need not.
    """

    limits: Mapping[str, float | None] = field(default_factory=dict)
    seconds: float = 0.0
    stop: str = ""


class OrderBook:
    """The orders of one crawl."""

    def __init__(self, link: Link, crawl: str) -> None:
        self._link = link
        self._run = key_of(crawl, "run")
        self._stop = key_of(crawl, "stop")

    async def begin(self, limits: Mapping[str, float | None]) -> None:
        """Begin a run: an order to stop the last one holds no longer."""
        since = await store_time(self._link, self._run)
        await self._link.call("SET", self._run, json.dumps({"limits": limits, "since": since}))
        await self._link.call("DEL", self._stop)

    async def stop(self, why: str) -> None:
        """Order all machines to drain and leave; the first reason that is given stays."""
        await self._link.call("SET", self._stop, why, "NX")

    async def read(self) -> Orders:
        """Return what holds now."""
        run, stop, now = await asyncio.gather(
            self._link.call("GET", self._run), self._link.call("GET", self._stop), store_time(self._link, self._run)
        )
        said = _read(text_of(run))
        return Orders(_limits(said.get("limits")), max(0.0, now - _number(said.get("since"), now)), text_of(stop))


def _read(entry: str) -> dict[str, Any]:
    try:
        said = json.loads(entry) if entry else {}
    except ValueError:
        said = {}
    return said if isinstance(said, dict) else {}


def _limits(said: Any) -> dict[str, float | None]:
    said = said if isinstance(said, dict) else {}
    return {str(name): _number(value, 0.0) or None for name, value in said.items()}


def _number(value: Any, otherwise: float) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
