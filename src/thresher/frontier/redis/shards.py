"""Shards of a crawl: which host belongs to which, script arguments for links and settlements, and opening a crawl.

All keys of a shard have one hash tag, so they are on one node. On one server a crawl has one shard and everything is
exact; on a cluster it has several, and a page's links to other shards are added before its lease is settled: after a
failure in between, the page is fetched again and nothing is lost.

Polling all shards before every lease would cost more than the leases. So their best scores are polled a few times a
second, and used up meanwhile: the order is exact within each shard, and over all shards as exact as this snapshot.
"""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from thresher.errors import StoreError, StoreLost
from thresher.frontier.redis.codec import Name, link_bytes, reason_bytes
from thresher.frontier.redis.connection import Part, RedisConnection
from thresher.locale.translation import _
from thresher.records import Candidate, Settlement
from thresher.urls.canonical import fingerprint, host_key

HEADS = 32
"""Number of best scores that are polled from each shard."""

FRESH_SECONDS = 0.25


class Heads:
    """Snapshot of the best scores of each shard, best first.

    Args:
        fresh_seconds: How long a snapshot is valid.
        clock: Returns the time in seconds.
    """

    def __init__(self, *, fresh_seconds: float = FRESH_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._fresh_seconds = fresh_seconds
        self._clock = clock
        self._scores: list[list[float]] = []
        self._until = 0.0

    def update(self, scores: Sequence[list[float]]) -> None:
        self._scores = [list(of_shard) for of_shard in scores]
        self._until = self._clock() + self._fresh_seconds

    def is_fresh(self, limit: int) -> bool:
        """Return whether the snapshot is still valid and has at least `limit` scores left."""
        return self._clock() < self._until and sum(map(len, self._scores)) >= limit

    def best(self, limit: int) -> dict[int, int]:
        """Remove the best scores from the snapshot; return how many are from which shard."""
        ranked = ((score, -shard) for shard, scores in enumerate(self._scores) for score in scores)
        wanted: dict[int, int] = {}
        for _score, minus_shard in nlargest(max(0, limit), ranked):
            wanted[-minus_shard] = wanted.get(-minus_shard, 0) + 1
        for shard, number in wanted.items():
            del self._scores[shard][:number]
        return wanted


LINKS_AT_ONCE = 100
"""Maximum number of links per script call, so that none blocks the store for long."""

LINKS_OF_A_HOST_AT_ONCE = 32
"""Maximum number of them of one host: each may evict another URL, and that reads a chunk of the host's queue."""

CONTENT_KEYS = 131_072


@dataclass(frozen=True)
class Shards:
    """The shards of a crawl."""

    crawl: str
    number: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.number))

    def of(self, host: str) -> int:
        """Return the shard of a host."""
        return zlib.crc32(host.encode("utf-8", "surrogatepass")) % self.number

    def prefix(self, shard: int) -> bytes:
        """Return the prefix of all keys of a shard."""
        return b"th:{%s:%d}" % (self.crawl.encode(), shard)

    def content_key(self, content: int) -> bytes:
        """Return the key of the hash with the owner of a content."""
        return b"%sc%d" % (self.prefix(content % self.number), content % CONTENT_KEYS)

    def sort(self, links: Iterable[Candidate]) -> dict[int, list[Candidate]]:
        """Group links by shard."""
        if self.number == 1:
            return {0: list(links)}
        sorted_links: dict[int, list[Candidate]] = defaultdict(list)
        for link in links:
            sorted_links[self.of(host_key(link.url))].append(link)
        return sorted_links

    def fence(self, shard: int, number: int) -> int:
        """Return a fence that encodes its shard."""
        return number * self.number + shard

    def shard_of_fence(self, fence: int) -> tuple[int, int]:
        """Return the shard of a fence, and the number of the lease in that shard."""
        number, shard = divmod(fence, self.number)
        return shard, number


def link_arguments(links: Sequence[Candidate]) -> list[Part]:
    """Encode links for insert_links.lua: number of links, number of hosts, then the links by host."""
    by_host: dict[str, list[Part]] = {}
    for index, link in enumerate(links):
        host = host_key(link.url)
        name = Name.of(link.url, host)
        group = by_host.setdefault(host, [name.host, 0])
        group[1] += 1  # type: ignore[operator]
        group += (name.rest, name.member, link_bytes(link, index, name.number))
    return [len(links), len(by_host), *(part for group in by_host.values() for part in group)]


class Batch:
    """Settlements to be committed, several per script call as far as the limit on links allows."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._scripts: dict[int, list[list[Part]]] = defaultdict(list)
        self._room: dict[int, int] = defaultdict(int)
        self._indexes: dict[int, list[int]] = defaultdict(list)
        self._settlements = 0
        self.early: list[tuple[int, Sequence[Candidate]]] = []
        """Links to add before any lease is settled: those to other shards, and those above the limit."""

    def add(self, settlement: Settlement, unsent: Sequence[Candidate]) -> None:
        """Add a settlement with those of its links that must be sent."""
        own, number = self._shards.shard_of_fence(settlement.lease.fence)
        links = self._shards.sort(unsent)
        *more, last = list(portions(links.pop(own, []))) or [[]]
        self.early += [(own, portion) for portion in more]
        self.early += [(shard, portion) for shard, there in links.items() for portion in portions(there)]
        content = settlement.content if self._shards.number == 1 else 0
        if max(1, len(last)) > self._room[own]:
            self._scripts[own].append([])
            self._room[own] = LINKS_AT_ONCE
        self._room[own] -= max(1, len(last))
        self._scripts[own][-1] += settlement_arguments(settlement, number, last, content=content)
        self._indexes[own].append(self._settlements)
        self._settlements += 1

    def calls(self) -> list[tuple[int, list[Part]]]:
        """Return the shard and the arguments of each script call."""
        return [(shard, parts) for shard, scripts in self._scripts.items() for parts in scripts]

    def in_order(self, held: Sequence[int]) -> list[bool]:
        """Return the results of `calls` in the order of the settlements."""
        indexes = [index for listed in self._indexes.values() for index in listed]
        by_index = dict(zip(indexes, held, strict=True))
        return [bool(by_index[index]) for index in range(self._settlements)]


def settlement_arguments(
    settlement: Settlement, number: int, links: Sequence[Candidate], *, content: int
) -> list[Part]:
    """Encode a settlement for commit.lua."""
    return [
        number,
        repr(settlement.lease.until),
        settlement.outcome.value,
        reason_bytes(settlement.reason),
        repr(settlement.delay_seconds),
        int(settlement.page),
        int(settlement.relevant),
        reason_bytes(settlement.park),
        content % CONTENT_KEYS,
        content_bytes(content) if content else b"",
        content_bytes(fingerprint(settlement.lease.url)),
        *link_arguments(links),
    ]


def content_bytes(number: int) -> bytes:
    """Encode a signed 64-bit number."""
    return number.to_bytes(8, "big", signed=True)


def portions(links: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Split links into portions for one script call each."""
    portion: list[Candidate] = []
    hosts: dict[str, int] = defaultdict(int)
    for link in links:
        host = host_key(link.url)
        if len(portion) == LINKS_AT_ONCE or hosts[host] == LINKS_OF_A_HOST_AT_ONCE:
            yield portion
            portion, hosts = [], defaultdict(int)
        portion.append(link)
        hosts[host] += 1
    if portion:
        yield portion


LAYOUT = 2
"""Version of the key layout; raised when older versions of Thresher cannot read it."""
_ID = "id"


async def open_shards(
    connection: RedisConnection, crawl: str, wanted: int, seen_keys: int, crawl_id: str
) -> tuple[Shards, int]:
    """Return the shards of a crawl and the number of its sets of seen URLs; both are fixed when it begins.

    Raises:
        StoreLost: The store does not have the crawl of that id; nothing is written to it.
        StoreError: A newer version of Thresher made the crawl.
    """
    await refuse_lost(connection, crawl, crawl_id)
    settings = {"layout": LAYOUT, "shards": wanted, "seen_keys": seen_keys}
    for name, value in settings.items():
        await connection.call("HSETNX", _key(crawl), name, value)
    layout, number, kept_keys = map(int, await connection.call("HMGET", _key(crawl), *settings))
    if layout < LAYOUT:  # its entries are read as they are; from now on, an older version refuses the crawl
        await connection.call("HSET", _key(crawl), "layout", LAYOUT)
    elif layout > LAYOUT:
        raise StoreError(
            f"crawl {crawl} in {connection.name} was made by a newer version of Thresher; "
            "use that version, or start a new crawl"
        )
    return Shards(crawl, number), kept_keys


async def refuse_lost(connection: RedisConnection, crawl: str, crawl_id: str) -> None:
    """Check that the store has the crawl of this id; an empty id matches any.

    Raises:
        StoreLost: It does not: it was flushed, or has another crawl of the same name.
    """
    if not crawl_id:
        return
    kept = await connection.call("HGET", _key(crawl), _ID)
    if kept != crawl_id.encode():
        another = _("it holds another crawl called {crawl!r}", crawl=crawl)
        nothing = _("nothing of {crawl!r} is there any more", crawl=crawl)
        raise StoreLost(_("the store {store}", store=connection.name), another if kept else nothing)


async def keep_id(connection: RedisConnection, crawl: str, crawl_id: str) -> str:
    """Set the id of a crawl unless the store has one; return the stored id."""
    await connection.call("HSETNX", _key(crawl), _ID, crawl_id)
    kept: bytes = await connection.call("HGET", _key(crawl), _ID)
    return kept.decode()


def _key(crawl: str) -> bytes:
    """Return the key of the data about the whole crawl."""
    return b"th:{%s}" % crawl.encode()
