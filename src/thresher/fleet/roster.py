"""Who works for a crawl: every worker says so every few seconds, and who falls silent is seen by all.

The times are the store's. A worker that leaves takes itself off; one that was killed stays on the list, silent, for an
hour.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from thresher.fleet.keys import Link, key_of, pairs_of, store_time, text_of

BEAT_SECONDS = 3.0
SILENT_SECONDS = 15.0
FORGOTTEN_SECONDS = 3600


@dataclass(frozen=True, kw_only=True)
class Sign:
    """What a worker says of itself.

    Args:
        host: The name of its machine, for people.
        mark: What tells its folder from all others.
        since: When it began, by the clock of its machine.
        pages: Pages that it has settled since.
        state: What it is doing: working, waiting or leaving.
    """

    host: str
    mark: str
    pid: int
    since: float
    pages: int = 0
    state: str = "working"


@dataclass(frozen=True, kw_only=True)
class Worker:
    """A worker as the others see it."""

    name: str
    sign: Sign
    silent_seconds: float

    @property
    def is_silent(self) -> bool:
        """Whether it has not been heard of for so long that it may be gone."""
        return self.silent_seconds > SILENT_SECONDS


class Roster:
    """The list of workers of one crawl."""

    def __init__(self, link: Link, crawl: str) -> None:
        self._link = link
        self._key = key_of(crawl, "workers")

    async def beat(self, name: str, sign: Sign) -> None:
        """Say that a worker lives."""
        now = await store_time(self._link, self._key)
        entry = json.dumps({**asdict(sign), "seen": now})
        await self._link.call("HSET", self._key, name, entry)
        await self._link.call("EXPIRE", self._key, FORGOTTEN_SECONDS)

    async def leave(self, name: str) -> None:
        """Take a worker off the list."""
        await self._link.call("HDEL", self._key, name)

    async def workers(self) -> list[Worker]:
        """List the workers by name; who was silent for too long is forgotten."""
        now, entries = await asyncio.gather(store_time(self._link, self._key), self._link.call("HGETALL", self._key))
        listed = list(_read(pairs_of(entries), now))
        for worker in listed:
            if worker.silent_seconds > FORGOTTEN_SECONDS:
                await self.leave(worker.name)
        kept = (worker for worker in listed if worker.silent_seconds <= FORGOTTEN_SECONDS)
        return sorted(kept, key=lambda worker: worker.name)


async def take_part(link: Link, crawl: str, mark: str) -> None:
    """Note for good that the machine of this mark keeps pages of the crawl."""
    await link.call("SADD", key_of(crawl, "machines"), mark)


async def machines(link: Link, crawl: str) -> set[str]:
    """Return the marks of all machines that ever kept pages of the crawl; none when nobody noted them."""
    return {text_of(mark) for mark in await link.call("SMEMBERS", key_of(crawl, "machines")) or ()}


def _read(entries: dict[str, str], now: float) -> Iterator[Worker]:
    """Read what is on the list; an entry that nobody of us wrote is passed over."""
    for name, entry in entries.items():
        try:
            said = json.loads(entry)
            silent_seconds = max(0.0, now - float(said.pop("seen")))
            yield Worker(name=name, sign=Sign(**said), silent_seconds=silent_seconds)
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
