"""Read-only queries: the best waiting URLs, hosts and failures, read in small portions so as not to block the store."""

from __future__ import annotations

import heapq
import math
import random
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from thresher.frontier.base import MAX_FAILURES, FailureCount, HostEntry, UrlEntry, UrlState
from thresher.frontier.redis.codec import HostRecord, Record, to_text, url_of
from thresher.frontier.redis.connection import RedisConnection
from thresher.reasons.legacy import stored_reason
from thresher.reasons.reason import NO_REASON

HOSTS_AT_ONCE = 100
HOSTS_WITHOUT_PAGES = 1_000
"""Of hosts without pages, at most this many are sorted."""
SAMPLED_OF_A_HOST = 20
"""Number of sampled URLs that represent all waiting URLs of a host."""

Best = tuple[float, int, UrlEntry]
"""Negative score, age, and URL: sorted by these, the best comes first."""


class RedisQueries:
    """Reads the keys of a shard, given their prefix."""

    def __init__(self, connection: RedisConnection, clock: Callable[[], float] | None = None) -> None:
        self._connection = connection
        self._clock = clock
        self.cold: Callable[[bytes, bytes, HostRecord, int, float], Awaitable[list[Best]]] | None = None
        """Reads the best cold URLs of a host; None where they are not shown."""

    async def best(self, prefix: bytes, limit: int, below: float | None) -> list[Best]:
        """Return the best waiting URLs of a shard."""
        best: list[Best] = []
        seen: set[bytes] = set()  # a parked host may also be held
        ceiling = math.inf if below is None else below
        async for names in self._ready(prefix):
            best, is_over = await self._merged(best, prefix, names, limit, ceiling)
            seen.update(names)
            if is_over:  # ready hosts come best first
                break
        async for names in self._resting(prefix):
            best, _ = await self._merged(best, prefix, [name for name in names if name not in seen], limit, ceiling)
            seen.update(names)
        return best

    async def _merged(
        self, best: list[Best], prefix: bytes, names: Sequence[bytes], limit: int, ceiling: float
    ) -> tuple[list[Best], bool]:
        """Merge the waiting URLs of some hosts into the best; also return whether some host had none good enough."""
        is_over = False
        for name, host in await self._hosts(prefix, names):
            if len(best) >= limit and host.top < -best[-1][0]:
                is_over = True
                continue
            waiting = await self._waiting(prefix, name, host, ceiling) if host.waiting else []
            if host.has_cold and self.cold:
                waiting += await self.cold(prefix, name, host, limit, ceiling)
            best = heapq.nsmallest(limit, [*best, *waiting], key=_rank)
        return best, is_over

    async def hosts(self, prefix: bytes, limit: int, now: float, first_delay: float) -> list[HostEntry]:
        """Return hosts of a shard: those with pages, most first, then ready ones."""
        known = await self._connection.call("ZRANGE", prefix + b"a", 0, limit - 1)
        others: list[bytes] = []
        if len(known) < limit:
            ready = await self._connection.call("ZREVRANGE", prefix + b"r", 0, HOSTS_WITHOUT_PAGES - 1)
            others = sorted({member[4:] for member in ready} - set(known))
        hosts = await self._hosts(prefix, [*known, *others])
        return [_host_entry(to_text(name), host, now, first_delay) for name, host in hosts]

    async def parked(self, prefix: bytes, limit: int, now: float, first_delay: float) -> list[HostEntry]:
        """Return the parked hosts of a shard."""
        names = await self._connection.call("ZREVRANGE", prefix + b"p", 0, limit - 1)
        hosts = await self._hosts(prefix, names)
        return [_host_entry(to_text(name), host, now, first_delay) for name, host in hosts if host.park_end > now]

    async def host(self, prefix: bytes, name: bytes, first_delay: float) -> HostEntry | None:
        """Return one host of a shard; None when it is unknown."""
        hosts = await self._hosts(prefix, [name])
        return _host_entry(to_text(name), hosts[0][1], await self.now(prefix), first_delay) if hosts else None

    async def failures(self, prefix: bytes) -> list[FailureCount]:
        """Return the failure counts of a shard, and its parked hosts with waiting URLs."""
        now = await self.now(prefix)
        counted: dict[bytes, bytes] = await self._connection.call("HGETALL", prefix + b"F")
        counts = [_failure_count(field, number) for field, number in counted.items()]
        names = await self._connection.call("ZREVRANGE", prefix + b"p", 0, MAX_FAILURES - 1)
        for start in range(0, len(names), HOSTS_AT_ONCE):
            hosts = await self._hosts(prefix, names[start : start + HOSTS_AT_ONCE])
            counts += [
                _parked_count(to_text(name), host, now)
                for name, host in hosts
                if host.waiting + host.cold and host.park_end > now
            ]
        return counts

    async def sample(self, prefix: bytes, limit: int) -> list[tuple[float, float]]:
        """Return sampled scores of waiting URLs of a shard, each with the number of URLs that it represents.

        Hosts are sampled at random, and some URLs of each; the URLs of a host represent all that wait there, and a
        host represents the others in its stage.
        """
        found: list[tuple[float, float]] = []
        for stage in (b"r", b"d", b"p"):
            key, most = prefix + stage, max(1, limit // SAMPLED_OF_A_HOST)
            known, names = await self._connection.call_all([("ZCARD", key), ("ZRANDMEMBER", key, most)])
            share = known / len(names) if names else 0.0
            found += await self._sample_hosts(prefix, [name[4:] if stage == b"r" else name for name in names], share)
        return found

    async def _sample_hosts(self, prefix: bytes, names: Sequence[bytes], share: float) -> list[tuple[float, float]]:
        hosts = [(name, host) for name, host in await self._hosts(prefix, names) if host.waiting]
        keys = [prefix + b"q" + name + _chunk(random.randrange(host.chunks)) for name, host in hosts]  # noqa: S311
        rows = await self._connection.call_all([("HRANDFIELD", key, SAMPLED_OF_A_HOST, "WITHVALUES") for key in keys])
        found: list[tuple[float, float]] = []
        for (_, host), row in zip(hosts, rows, strict=True):
            sampled = [Record.read(content).score for rest, content in _pairs(row) if rest]
            found += [(score, share * host.waiting / len(sampled)) for score in sampled]
        return found

    async def sums(self, prefix: bytes) -> dict[str, int]:
        """Return the sums of a shard that an audit compares."""
        names = ("waiting", "leased", "done", "failed", "pages", "dropped", "recorded")
        kept = await self._connection.call("HMGET", prefix + b"x", *names)
        return {name: int(value or 0) for name, value in zip(names, kept, strict=True)}

    async def settled(self, prefix: bytes, seen_keys: int) -> int:
        """Return how many URLs of a shard are settled: those that are leased or settled, without the leases."""
        sizes = await self._connection.call_all([("SCARD", prefix + b"s%d" % number) for number in range(seen_keys)])
        return sum(map(int, sizes)) - int(await self._connection.call("HLEN", prefix + b"L"))

    async def all_hosts(self, prefix: bytes) -> AsyncIterator[list[bytes]]:
        """Yield the names of all hosts of a shard, each followed by its member of the ready ones or nothing."""
        start = len(prefix) + 1
        keys = await self._connection.keys(prefix + b"q*")
        names = {name: b"" for key in keys if b" " not in (name := key[start:])}
        for listed in (b"a", b"d", b"p"):
            names |= dict.fromkeys(await self._connection.call("ZRANGE", prefix + listed, 0, -1), b"")
        names |= {member[4:]: member for member in await self._connection.call("ZRANGE", prefix + b"r", 0, -1)}
        parts = [part for item in names.items() for part in item]
        for at in range(0, len(parts), 2 * HOSTS_AT_ONCE):
            yield parts[at : at + 2 * HOSTS_AT_ONCE]

    async def ready(self, prefix: bytes, limit: int) -> list[tuple[float, bytes]]:
        """Return scores and members of the ready hosts of a shard, best first."""
        listed = await self._connection.call("ZREVRANGE", prefix + b"r", 0, limit - 1, "WITHSCORES")
        return [(float(score), member) for member, score in listed]

    async def names(self, prefix: bytes) -> set[bytes]:
        """Return all hosts of a shard with waiting URLs, read at once: a host may move between the lists."""
        ready, delayed, parked, leases = await self._connection.call_all(
            [*(("ZRANGE", prefix + key, 0, -1) for key in (b"r", b"d", b"p")), ("HVALS", prefix + b"L")]
        )
        return {*(member[4:] for member in ready), *delayed, *parked, *map(_host_of_lease, leases)}

    async def now(self, prefix: bytes) -> float:
        """Return the time of a shard, which does not jump when the store's clock is set."""
        if self._clock:
            return self._clock()
        seconds, micros = await self._connection.call("TIME")
        ahead = await self._connection.call("HGET", prefix + b"x", "ahead")
        return int(seconds) + int(micros) / 1e6 - float(ahead or 0)

    async def _ready(self, prefix: bytes) -> AsyncIterator[list[bytes]]:
        """Yield the ready hosts, best first."""
        at = 0
        while ready := await self._connection.call("ZREVRANGE", prefix + b"r", at, at + HOSTS_AT_ONCE - 1):
            yield [member[4:] for member in ready]
            at += HOSTS_AT_ONCE

    async def _resting(self, prefix: bytes) -> AsyncIterator[list[bytes]]:
        """Yield the other hosts with waiting URLs, unordered: delayed, parked and held ones."""
        for asleep in (b"d", b"p"):
            names = await self._connection.call("ZRANGE", prefix + asleep, 0, -1)
            for start in range(0, len(names), HOSTS_AT_ONCE):
                yield names[start : start + HOSTS_AT_ONCE]
        leases = await self._connection.call("HVALS", prefix + b"L")
        yield list(dict.fromkeys(_host_of_lease(lease) for lease in leases))

    async def _hosts(self, prefix: bytes, names: Sequence[bytes]) -> list[tuple[bytes, HostRecord]]:
        kept = await self._connection.call_all([("HGET", prefix + b"q" + name, b"") for name in names])
        return [(name, HostRecord.read(content)) for name, content in zip(names, kept, strict=True) if content]

    async def _waiting(self, prefix: bytes, name: bytes, host: HostRecord, ceiling: float) -> list[Best]:
        text, found = to_text(name), []
        key = prefix + b"q" + name
        chunks = await self._connection.call_all([("HGETALL", key + _chunk(chunk)) for chunk in range(host.chunks)])
        for rest, content in (url for chunk in chunks for url in chunk.items() if url[0]):
            record = Record.read(content)
            if record.score < ceiling:
                found.append((-record.score, record.age, record.entry(url_of(text, rest), text, UrlState.WAITING)))
        return found


def _chunk(number: int) -> bytes:
    """Return the key suffix of a chunk of a host's queue."""
    return b" %d" % number if number else b""


def _pairs(row: Sequence[Any]) -> Sequence[tuple[bytes, bytes]]:
    """Return names with values; depending on its version, the protocol returns pairs or one flat list."""
    if row and isinstance(row[0], bytes):
        return list(zip(row[::2], row[1::2], strict=True))
    return [(name, value) for name, value in row]


def _rank(one: Best) -> tuple[float, int]:
    return one[:2]


def _host_of_lease(lease: bytes) -> bytes:
    """Return the host's name, which follows the end time and the worker's name."""
    worker_length = lease[8]
    at = 9 + worker_length
    [length] = struct.unpack_from(">H", lease, at)
    return lease[at + 2 : at + 2 + length]


def _host_entry(name: str, host: HostRecord, now: float, first_delay: float) -> HostEntry:
    park_end = host.park_end if host.park_end < math.inf else 0.0
    return HostEntry(
        host=name,
        waiting=host.waiting + host.cold,
        leased=host.leased,
        pages=host.pages,
        relevant=host.relevant,
        failed=host.failed,
        delay_seconds=host.delay_seconds if host.delay_seconds >= 0 else first_delay,
        next_seconds=max(0.0, host.next_time - now, park_end - now),
        best=host.top if host.waiting or host.has_cold else None,
        parked=host.parked if host.park_end > now else NO_REASON,
    )


def _failure_count(field: bytes, number: bytes) -> FailureCount:
    """Decode a field of `F`: a host, a space and the beginning of a reason."""
    host, _, reason = field.partition(b" ")
    return FailureCount(host=to_text(host), reason=stored_reason(reason.decode("utf-8", "ignore")), urls=int(number))


def _parked_count(name: str, host: HostRecord, now: float) -> FailureCount:
    retry_seconds = max(host.park_end, host.next_time) - now if host.park_end < math.inf else None
    return FailureCount(
        host=name, reason=host.parked, urls=host.waiting + host.cold, waiting=True, retry_seconds=retry_seconds
    )
