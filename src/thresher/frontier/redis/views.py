"""What people ask of the store: the best waiting URLs, and the hosts. Read in small portions, so nobody is held up."""

from __future__ import annotations

import heapq
import math
import random
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from thresher.frontier.base import MOST_FAILURES, FailureCount, HostEntry, UrlEntry, UrlState
from thresher.frontier.redis.codec import HostRecord, Record, to_text, url_of
from thresher.frontier.redis.link import StoreLink

HOSTS_AT_ONCE = 100
UNASKED_HOSTS = 1_000
"""Of hosts with no page yet, no more than so many are put in order."""
SAMPLED_OF_A_HOST = 20
"""How many URLs of a host stand for all that wait there."""

Best = tuple[float, int, UrlEntry]
"""Minus the score, the age, and the URL: in this order the best comes first."""


class Views:
    """Looks into the keys of a shard, given their prefix."""

    def __init__(self, link: StoreLink, clock: Callable[[], float] | None = None) -> None:
        self._link = link
        self._clock = clock

    async def best(self, prefix: bytes, limit: int, below: float | None) -> list[Best]:
        """Return the best waiting URLs of a shard."""
        best: list[Best] = []
        looked_at: set[bytes] = set()  # a parked host may be held too
        ceiling = math.inf if below is None else below
        async for names in self._ready(prefix):
            best, is_over = await self._merged(best, prefix, names, limit, ceiling)
            looked_at.update(names)
            if is_over:  # they come best first
                break
        async for names in self._resting(prefix):
            best, _ = await self._merged(
                best, prefix, [name for name in names if name not in looked_at], limit, ceiling
            )
            looked_at.update(names)
        return best

    async def _merged(
        self, best: list[Best], prefix: bytes, names: Sequence[bytes], limit: int, ceiling: float
    ) -> tuple[list[Best], bool]:
        """Put what waits at some hosts among the best; say whether some host had nothing that is good enough."""
        is_over = False
        for name, host in await self._hosts(prefix, names):
            if host.waiting and not (len(best) >= limit and host.best < -best[-1][0]):
                waiting = await self._waiting(prefix, name, host, ceiling)
                best = heapq.nsmallest(limit, [*best, *waiting], key=_rank)
            else:
                is_over |= len(best) >= limit
        return best, is_over

    async def hosts(self, prefix: bytes, limit: int, now: float, first_delay: float) -> list[HostEntry]:
        """Return the hosts of a shard, those with most pages first."""
        asked = await self._link.call("ZRANGE", prefix + b"a", 0, limit - 1)
        unasked: list[bytes] = []
        if len(asked) < limit:
            ready = await self._link.call("ZREVRANGE", prefix + b"r", 0, UNASKED_HOSTS - 1)
            unasked = sorted({member[4:] for member in ready} - set(asked))
        hosts = await self._hosts(prefix, [*asked, *unasked])
        return [_host_entry(to_text(name), host, now, first_delay) for name, host in hosts]

    async def parked(self, prefix: bytes, limit: int, now: float, first_delay: float) -> list[HostEntry]:
        """Return the parked hosts of a shard."""
        names = await self._link.call("ZREVRANGE", prefix + b"p", 0, limit - 1)
        hosts = await self._hosts(prefix, names)
        return [_host_entry(to_text(name), host, now, first_delay) for name, host in hosts if host.park_end > now]

    async def host(self, prefix: bytes, name: bytes, first_delay: float) -> HostEntry | None:
        """Return one host of a shard; None when it is unknown."""
        hosts = await self._hosts(prefix, [name])
        return _host_entry(to_text(name), hosts[0][1], await self.now(prefix), first_delay) if hosts else None

    async def failures(self, prefix: bytes) -> list[FailureCount]:
        """Return the failures that a shard counted, and its parked hosts with waiting URLs."""
        now = await self.now(prefix)
        counts = [_failure_count(field, number) for field, number in (await self._counted(prefix)).items()]
        names = await self._link.call("ZREVRANGE", prefix + b"p", 0, MOST_FAILURES - 1)
        for start in range(0, len(names), HOSTS_AT_ONCE):
            hosts = await self._hosts(prefix, names[start : start + HOSTS_AT_ONCE])
            counts += [
                _parked_count(to_text(name), host, now) for name, host in hosts if host.waiting and host.park_end > now
            ]
        return counts

    async def _counted(self, prefix: bytes) -> dict[bytes, bytes]:
        counted: dict[bytes, bytes] = await self._link.call("HGETALL", prefix + b"F")
        return counted

    async def sample(self, prefix: bytes, limit: int) -> list[tuple[float, float]]:
        """Return scores of waiting URLs of a shard, each with the number of URLs that it stands for.

        Hosts are drawn by chance, and of each some URLs; what was drawn of a host stands for all that waits there, and
        a drawn host for others like it.
        """
        found: list[tuple[float, float]] = []
        for stage in (b"r", b"d", b"p"):
            key, most = prefix + stage, max(1, limit // SAMPLED_OF_A_HOST)
            known, names = await self._link.call_all([("ZCARD", key), ("ZRANDMEMBER", key, most)])
            share = known / len(names) if names else 0.0
            found += await self._drawn(prefix, [name[4:] if stage == b"r" else name for name in names], share)
        return found

    async def _drawn(self, prefix: bytes, names: Sequence[bytes], share: float) -> list[tuple[float, float]]:
        hosts = [(name, host) for name, host in await self._hosts(prefix, names) if host.waiting]
        keys = [prefix + b"q" + name + _chunk(random.randrange(host.chunks)) for name, host in hosts]  # noqa: S311
        rows = await self._link.call_all([("HRANDFIELD", key, SAMPLED_OF_A_HOST, "WITHVALUES") for key in keys])
        found: list[tuple[float, float]] = []
        for (_, host), row in zip(hosts, rows, strict=True):
            drawn = [Record.read(content).score for rest, content in _pairs(row) if rest]
            found += [(score, share * host.waiting / len(drawn)) for score in drawn]
        return found

    async def ready(self, prefix: bytes, limit: int) -> list[tuple[float, bytes]]:
        """Return scores and members of the ready hosts of a shard, best first."""
        listed = await self._link.call("ZREVRANGE", prefix + b"r", 0, limit - 1, "WITHSCORES")
        return [(float(score), member) for member, score in listed]

    async def now(self, prefix: bytes) -> float:
        """Return the time of a shard, which goes on when the store's clock is set anew."""
        if self._clock:
            return self._clock()
        seconds, micros = await self._link.call("TIME")
        ahead = await self._link.call("HGET", prefix + b"x", "ahead")
        return int(seconds) + int(micros) / 1e6 - float(ahead or 0)

    async def _ready(self, prefix: bytes) -> AsyncIterator[list[bytes]]:
        """List the hosts that may be asked now, best first."""
        at = 0
        while ready := await self._link.call("ZREVRANGE", prefix + b"r", at, at + HOSTS_AT_ONCE - 1):
            yield [member[4:] for member in ready]
            at += HOSTS_AT_ONCE

    async def _resting(self, prefix: bytes) -> AsyncIterator[list[bytes]]:
        """List the other hosts with waiting URLs, in no order: sleeping ones, held ones."""
        for asleep in (b"d", b"p"):
            names = await self._link.call("ZRANGE", prefix + asleep, 0, -1)
            for start in range(0, len(names), HOSTS_AT_ONCE):
                yield names[start : start + HOSTS_AT_ONCE]
        leases = await self._link.call("HVALS", prefix + b"L")
        yield list(dict.fromkeys(_host_of_lease(lease) for lease in leases))

    async def _hosts(self, prefix: bytes, names: Sequence[bytes]) -> list[tuple[bytes, HostRecord]]:
        kept = await self._link.call_all([("HGET", prefix + b"q" + name, b"") for name in names])
        return [(name, HostRecord.read(content)) for name, content in zip(names, kept, strict=True) if content]

    async def _waiting(self, prefix: bytes, name: bytes, host: HostRecord, ceiling: float) -> list[Best]:
        text, found = to_text(name), []
        key = prefix + b"q" + name
        chunks = await self._link.call_all([("HGETALL", key + _chunk(chunk)) for chunk in range(host.chunks)])
        for rest, content in (url for chunk in chunks for url in chunk.items() if url[0]):
            record = Record.read(content)
            if record.score < ceiling:
                found.append((-record.score, record.age, record.entry(url_of(text, rest), text, UrlState.WAITING)))
        return found


def _chunk(number: int) -> bytes:
    """Give the end of the key of a part of a host's queue."""
    return b" %d" % number if number else b""


def _pairs(row: Sequence[Any]) -> Sequence[tuple[bytes, bytes]]:
    """Return names with values, which the protocol gives in pairs or in one row."""
    if row and isinstance(row[0], bytes):
        return list(zip(row[::2], row[1::2], strict=True))
    return [(name, value) for name, value in row]


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


def _failure_count(field: bytes, number: bytes) -> FailureCount:
    """Read a field of `F`: a host, a space and the beginning of a reason."""
    host, _, reason = field.partition(b" ")
    return FailureCount(host=to_text(host), reason=reason.decode("utf-8", "ignore"), urls=int(number))


def _parked_count(name: str, host: HostRecord, now: float) -> FailureCount:
    retry_seconds = max(host.park_end, host.next_time) - now if host.park_end < math.inf else None
    return FailureCount(host=name, reason=host.parked, urls=host.waiting, waiting=True, retry_seconds=retry_seconds)
