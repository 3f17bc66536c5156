"""Which shard a host belongs to, and what links and settlements look like as arguments of the scripts.

All keys of a shard carry one hash tag, so they live on one node. On one server a crawl has one shard and everything is
exact; on a cluster it has several, and a page's links to other shards are let in before its lease is settled: whatever
breaks in between, the page is fetched again and nothing is lost.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thresher.frontier.redis.codec import Name, link_bytes, reason_bytes
from thresher.frontier.redis.link import Part
from thresher.records import Candidate, Settlement
from thresher.urls.canonical import fingerprint
from thresher.urls.host import host_key

LINKS_AT_ONCE = 100
"""How many links one script takes, so that none holds up the store for long."""

LINKS_OF_A_HOST_AT_ONCE = 32
"""How many of them may be of one host: each may push another one out, and that takes a look at a chunk of its queue."""

CONTENT_KEYS = 131_072


@dataclass(frozen=True)
class Shards:
    """The shards of a crawl."""

    crawl: str
    number: int

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.number))

    def of(self, host: str) -> int:
        """Say which shard a host belongs to."""
        return zlib.crc32(host.encode("utf-8", "surrogatepass")) % self.number

    def prefix(self, shard: int) -> bytes:
        """Give the beginning of all its keys."""
        return b"th:{%s:%d}" % (self.crawl.encode(), shard)

    def content_key(self, content: int) -> bytes:
        """Return the key of the hash that says whose a content is."""
        return b"%sc%d" % (self.prefix(content % self.number), content % CONTENT_KEYS)

    def sort(self, links: Iterable[Candidate]) -> dict[int, list[Candidate]]:
        """Put links to their shards."""
        if self.number == 1:
            return {0: list(links)}
        sorted_links: dict[int, list[Candidate]] = defaultdict(list)
        for link in links:
            sorted_links[self.of(host_key(link.url))].append(link)
        return sorted_links

    def fence(self, shard: int, number: int) -> int:
        """Give a fence that tells its shard."""
        return number * self.number + shard

    def shard_of_fence(self, fence: int) -> tuple[int, int]:
        """Return the shard of a fence, and the number by which it knows the lease."""
        number, shard = divmod(fence, self.number)
        return shard, number


def link_arguments(links: Sequence[Candidate]) -> list[Part]:
    """Write links as let_in.lua takes them: how many, how many hosts, then by host."""
    by_host: dict[str, list[Part]] = {}
    for place, link in enumerate(links):
        host = host_key(link.url)
        name = Name.of(link.url, host)
        group = by_host.setdefault(host, [name.host, 0])
        group[1] += 1  # type: ignore[operator]
        group += (name.rest, name.member, link_bytes(link, place, name.number))
    return [len(links), len(by_host), *(part for group in by_host.values() for part in group)]


class Batch:
    """Settlements on their way into the store: several to a script, as long as their links are not too many."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards
        self._scripts: dict[int, list[list[Part]]] = defaultdict(list)
        self._room: dict[int, int] = defaultdict(int)
        self._places: dict[int, list[int]] = defaultdict(list)
        self._settlements = 0
        self.early: list[tuple[int, Sequence[Candidate]]] = []
        """Links that must be let in before any lease is settled: those to other shards, and what is too much."""

    def take(self, settlement: Settlement, news: Sequence[Candidate]) -> None:
        """Put a settlement into the batch, with those of its links that the store should hear of."""
        own, number = self._shards.shard_of_fence(settlement.lease.fence)
        links = self._shards.sort(news)
        *more, last = list(portions(links.pop(own, []))) or [[]]
        self.early += [(own, portion) for portion in more]
        self.early += [(shard, portion) for shard, there in links.items() for portion in portions(there)]
        content = settlement.content if self._shards.number == 1 else 0
        if max(1, len(last)) > self._room[own]:
            self._scripts[own].append([])
            self._room[own] = LINKS_AT_ONCE
        self._room[own] -= max(1, len(last))
        self._scripts[own][-1] += settlement_arguments(settlement, number, last, content=content)
        self._places[own].append(self._settlements)
        self._settlements += 1

    def calls(self) -> list[tuple[int, list[Part]]]:
        """Return the arguments of each script, and its shard."""
        return [(shard, parts) for shard, scripts in self._scripts.items() for parts in scripts]

    def in_order(self, held: Sequence[int]) -> list[bool]:
        """Bring the answers of `calls` into the order of the settlements."""
        places = [place for listed in self._places.values() for place in listed]
        by_place = dict(zip(places, held, strict=True))
        return [bool(by_place[place]) for place in range(self._settlements)]


def settlement_arguments(
    settlement: Settlement, number: int, links: Sequence[Candidate], *, content: int
) -> list[Part]:
    """Write a settlement as commit.lua takes it."""
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
    """Write a signed 64-bit number."""
    return number.to_bytes(8, "big", signed=True)


def portions(links: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """Cut links into as many as one script takes."""
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
