"""A made-up crawl for measuring a store: host names of 20 bytes, paths of 46, a carry of about 20 bytes as stored.

A page has 60 links: 22 to its own host and 38 spread over 19 others; 36 of the 60 are new, 24 lead to URLs that wait
there since the beginning.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from thresher.frontier.base import CrawlStore
from thresher.records import Candidate, Lease, Outcome, Settlement

BATCH = 4_000
ROUNDS = 4  # hosts grow in turns, as in a crawl, so that memory is as full of gaps as a grown store's
OWN_LINKS, OTHER_HOSTS, LINKS_PER_OTHER_HOST = 22, 19, 2
LINKS = OWN_LINKS + OTHER_HOSTS * LINKS_PER_OTHER_HOST
NEW_LINKS = 36
DELAY_SECONDS = 0.25
LEASE_SECONDS = 600.0


@dataclass(frozen=True)
class Shape:
    """`hosts` hosts with `urls_per_host` waiting URLs each."""

    hosts: int
    urls_per_host: int

    @property
    def size(self) -> int:
        return self.hosts * self.urls_per_host

    @property
    def name(self) -> str:
        return f"{self.hosts}x{self.urls_per_host}"


def host_name(host: int) -> str:
    """Return the name of a host."""
    return f"www.h{host:07d}.example"


def link(host: int, number: int, rng: random.Random) -> Candidate:
    """Return a link to a URL of a host; the same numbers give the same URL."""
    score = rng.random()
    word = number * 2_654_435_761 % 16**8
    return Candidate(
        url=f"https://{host_name(host)}/all-topics/{number % 97:02d}/{word:08x}-article-{number:09d}.html",
        score=score,
        strategy_data={"inherited": round(score, 3)},
        hops=3,
        parent=1 + rng.getrandbits(62),
    )


def first_batches(shape: Shape, part: int = 0, parts: int = 1, seed: int = 1) -> Iterator[list[Candidate]]:
    """Yield what waits from the beginning on hosts number `part`, `part + parts`, …, in batches."""
    rng = random.Random(seed * 1000 + part)
    batch: list[Candidate] = []
    for turn in range(min(ROUNDS, shape.urls_per_host)):
        for host in range(part, shape.hosts, parts):
            batch += [link(host, number, rng) for number in range(turn, shape.urls_per_host, ROUNDS)]
            if len(batch) >= BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


@dataclass
class Pages:
    """Pages of the made-up crawl, one after the other, and how long each cycle took."""

    frontier: CrawlStore
    shape: Shape
    seed: int = 1
    seconds: list[float] = field(default_factory=list)
    waits: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.lease: Lease | None = None

    async def cycles(self, count: int) -> None:
        """Settle a page with its links and lease the next one, `count` times."""
        for _ in range(count):
            await self.cycle()

    async def cycle(self) -> None:
        """Do it once; the page is made up before the clock starts."""
        lease = self.lease or await self._next_lease()
        settlement = self.settlement(lease)
        start = time.perf_counter()
        await self.frontier.commit([settlement])
        leases = await self.frontier.lease(1, seconds=LEASE_SECONDS)
        if leases:
            self.seconds.append(time.perf_counter() - start)
        self.lease = leases[0] if leases else None

    async def release_all(self) -> None:
        """Release the lease that is still open."""
        if self.lease:
            await self.frontier.release([self.lease])
            self.lease = None

    async def _next_lease(self) -> Lease:
        while not (leases := await self.frontier.lease(1, seconds=LEASE_SECONDS)):
            self.waits += 1
            await asyncio.sleep(0.01)
        return leases[0]

    def settlement(self, lease: Lease) -> Settlement:
        """Return what a page with the usual links changes."""
        return Settlement(
            lease=lease,
            outcome=Outcome.DONE,
            links=self._links(lease),
            delay_seconds=DELAY_SECONDS,
            page=True,
            content=1 + self.random.getrandbits(62),
        )

    def _links(self, lease: Lease) -> Sequence[Candidate]:
        own = int(lease.host[5:12])
        hosts = [own] * OWN_LINKS + self.random.sample(range(self.shape.hosts), OTHER_HOSTS) * LINKS_PER_OTHER_HOST
        self.random.shuffle(hosts)
        return [link(host, self._number(place), self.random) for place, host in enumerate(hosts)]

    def _number(self, place: int) -> int:
        if place < NEW_LINKS:
            return self.random.randrange(10**6, 10**9)
        return self.random.randrange(self.shape.urls_per_host)
