"""One open request per host at a time, whichever of a worker's rendered pages asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gates:
    """The gates of hosts that somebody is at; a host that nobody asks has none."""

    def __init__(self) -> None:
        self._gates: dict[str, tuple[asyncio.Lock, int]] = {}

    def __len__(self) -> int:
        return len(self._gates)

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Wait for one's turn, and keep others out for as long as the block lasts."""
        lock, waiting = self._gates.get(host, (asyncio.Lock(), 0))
        self._gates[host] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._gates.pop(host)
            if waiting > 1:
                self._gates[host] = lock, waiting - 1
