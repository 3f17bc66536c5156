"""The workers of a crawl in a shared store: each sends a heartbeat every few seconds.

Times are by the store's clock. A worker that leaves removes itself; one that was killed stays on the list, silent, for
an hour.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from thresher.coordination.keys import StoreConnection, key_of, pairs_of, store_time, text_of

HEARTBEAT_SECONDS = 3.0
SILENT_SECONDS = 15.0
FORGOTTEN_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Heartbeat:
    """What a worker reports about itself.

    Args:
        host: The host name of its machine, for display.
        mark: Identifies its folder; see `machine_id`.
        since: Start time, by the clock of its machine.
        pages: Pages that it has settled since.
        state: ``working``, ``waiting`` or ``leaving``.
    """

    host: str
    mark: str
    pid: int
    since: float
    pages: int = 0
    state: str = "working"


@dataclass(frozen=True, kw_only=True)
class RegisteredWorker:
    """A worker, its last heartbeat and the seconds since then."""

    name: str
    heartbeat: Heartbeat
    silent_seconds: float

    @property
    def is_silent(self) -> bool:
        """Whether its last heartbeat is so old that it may be gone."""
        return self.silent_seconds > SILENT_SECONDS


class WorkerRegistry:
    """The list of workers of one crawl."""

    def __init__(self, connection: StoreConnection, crawl: str) -> None:
        self._connection = connection
        self._key = key_of(crawl, "workers")

    async def record_heartbeat(self, name: str, heartbeat: Heartbeat) -> None:
        now = await store_time(self._connection, self._key)
        entry = json.dumps({**asdict(heartbeat), "seen": now})
        await self._connection.call("HSET", self._key, name, entry)
        await self._connection.call("EXPIRE", self._key, FORGOTTEN_SECONDS)

    async def deregister(self, name: str) -> None:
        await self._connection.call("HDEL", self._key, name)

    async def workers(self) -> list[RegisteredWorker]:
        """List the workers by name; those silent for more than an hour are removed."""
        now, entries = await asyncio.gather(
            store_time(self._connection, self._key), self._connection.call("HGETALL", self._key)
        )
        listed = list(_read(pairs_of(entries), now))
        for worker in listed:
            if worker.silent_seconds > FORGOTTEN_SECONDS:
                await self.deregister(worker.name)
        kept = (worker for worker in listed if worker.silent_seconds <= FORGOTTEN_SECONDS)
        return sorted(kept, key=lambda worker: worker.name)


async def register_machine(connection: StoreConnection, crawl: str, mark: str) -> None:
    """Record permanently that the machine of this mark stores pages of the crawl."""
    await connection.call("SADD", key_of(crawl, "machines"), mark)


async def machines(connection: StoreConnection, crawl: str) -> set[str]:
    """Return the marks of all machines that ever stored pages of the crawl; empty when none was recorded."""
    return {text_of(mark) for mark in await connection.call("SMEMBERS", key_of(crawl, "machines")) or ()}


def _read(entries: dict[str, str], now: float) -> Iterator[RegisteredWorker]:
    """Read the entries of the list; malformed ones are skipped."""
    for name, entry in entries.items():
        try:
            fields = json.loads(entry)
            silent_seconds = max(0.0, now - float(fields.pop("seen")))
            yield RegisteredWorker(name=name, heartbeat=Heartbeat(**fields), silent_seconds=silent_seconds)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
