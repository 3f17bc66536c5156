"""What people ask of the store: the best waiting URLs, and the hosts. Read in small portions, so nobody is held up."""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import AsyncIterator, Sequence

from thresher.frontier.base import HostEntry, UrlEntry, UrlState
from thresher.frontier.redis.codec import HostRecord, Record, to_text, url_of
from thresher.frontier.redis.link import StoreLink

HOSTS_AT_ONCE = 100
UNASKED_HOSTS = 1_000
"""Of hosts with no page yet, no more than so many are put in order."""

Best = tuple[float, int, UrlEntry]
"""Minus the score, the age, and the URL: in this order the best comes first."""


class Views:
    """Looks into the keys of a shard, given their prefix."""

    def __init__(self, link: StoreLink) -> None:
        self._link = link

    async def best(self, prefix: bytes, limit: int, below: float | None) -> list[Best]:
        """Return the best waiting URLs of a shard."""
        best: list[Best] = []
        looked_at: set[bytes] = set()  # a parked host may be held too
        async for names, in_order in self._names(prefix):
            hosts = await self._hosts(prefix, [name for name in names if name not in looked_at])
            looked_at.update(names)
            for name, host in hosts:
                full = len(best) >= limit
                if host.waiting and not (full and host.best < -best[-1][0]):
                    waiting = await self._waiting(prefix, name, host, math.inf if below is None else below)
                    best = heapq.nsmallest(limit, [*best, *waiting], key=_rank)
                elif full and in_order:
                    break
        return best

    async def hosts(self, prefix: bytes, limit: int, now: float, first_delay: float) -> list[HostEntry]:
        """Return the hosts of a shard, those with most pages first."""
        asked = await self._link.call("ZRANGE", prefix + b"a", 0, limit - 1)
        unasked: list[bytes] = []
        if len(asked) < limit:
            ready = await self._link.call("ZREVRANGE", prefix + b"r", 0, UNASKED_HOSTS - 1)
            unasked = sorted({member[4:] for member in ready} - set(asked))
        hosts = await self._hosts(prefix, [*asked, *unasked])
        return [_host_entry(to_text(name), host, now, first_delay) for name, host in hosts]

    async def ready(self, prefix: bytes, limit: int) -> list[tuple[float, bytes]]:
        """Return scores and members of the ready hosts of a shard, best first."""
        listed = await self._link.call("ZREVRANGE", prefix + b"r", 0, limit - 1, "WITHSCORES")
        return [(float(score), member) for member, score in listed]

    async def now(self, prefix: bytes) -> float:
        """Return the time of a shard, which goes on when the store's clock is set anew."""
        seconds, micros = await self._link.call("TIME")
        ahead = await self._link.call("HGET", prefix + b"x", "ahead")
        return int(seconds) + int(micros) / 1e6 - float(ahead or 0)

    async def _names(self, prefix: bytes) -> AsyncIterator[tuple[list[bytes], bool]]:
        """List the hosts with waiting URLs, and whether they come best first: ready ones, sleeping ones, held ones."""
        at = 0
        while ready := await self._link.call("ZREVRANGE", prefix + b"r", at, at + HOSTS_AT_ONCE - 1):
            yield [member[4:] for member in ready], True
            at += HOSTS_AT_ONCE
        for asleep in (b"d", b"p"):
            names = await self._link.call("ZRANGE", prefix + asleep, 0, -1)
            for start in range(0, len(names), HOSTS_AT_ONCE):
                yield names[start : start + HOSTS_AT_ONCE], False
        leases = await self._link.call("HVALS", prefix + b"L")
        yield list(dict.fromkeys(_host_of_lease(lease) for lease in leases)), False

    async def _hosts(self, prefix: bytes, names: Sequence[bytes]) -> list[tuple[bytes, HostRecord]]:
        kept = await self._link.call_all([("HGET", prefix + b"q" + name, b"") for name in names])
        return [(name, HostRecord.read(content)) for name, content in zip(names, kept, strict=True) if content]

    async def _waiting(self, prefix: bytes, name: bytes, host: HostRecord, ceiling: float) -> list[Best]:
        text, found = to_text(name), []
        key = prefix + b"q" + name
        chunks = await self._link.call_all(
            [("HGETALL", key + (b" %d" % chunk if chunk else b"")) for chunk in range(host.chunks)]
        )
        for rest, content in (url for chunk in chunks for url in chunk.items() if url[0]):
            record = Record.read(content)
            if record.score < ceiling:
                found.append((-record.score, record.age, record.entry(url_of(text, rest), text, UrlState.WAITING)))
        return found


def _rank(one: Best) -> tuple[float, int]:
    return one[:2]


def _host_of_lease(lease: bytes) -> bytes:
    """Read the host's name, which stands behind the end of the lease and the worker's name."""
    worker_length = lease[8]
    at = 9 + worker_length
    [length] = struct.unpack_from(">H", lease, at)
    return lease[at + 2 : at + 2 + length]


def _host_entry(name: str, host: HostRecord, now: float, first_delay: float) -> HostEntry:
    park_end = host.park_end if host.park_end < math.inf else 0.0
    return HostEntry(
        host=name,
        waiting=host.waiting,
        leased=host.leased,
        pages=host.pages,
        relevant=host.relevant,
        failed=host.failed,
        delay_seconds=host.delay_seconds if host.delay_seconds >= 0 else first_delay,
        next_seconds=max(0.0, host.next_time - now, park_end - now),
        best=host.best if host.waiting else None,
        parked=host.parked if host.park_end > now else "",
    )
