"""Row R14: many processes ask one store for leases as fast as they can; each URL and each host is one's at a time.

Every process writes down what it was granted: from the moment it had the answer to the moment before it gave the lease
up. So much is certain to lie within the lease; where two such times meet on one host, both processes were let in.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from testing.crawl_process import REPOSITORY
from testing.servers import store_server
from tests.faults.table import Outcome
from thresher.frontier.base import CrawlStore
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.records import Candidate, Settlement
from thresher.records import Outcome as Result
from thresher.urls.canonical import host_key

AT_ONCE = 20
LEASE_SECONDS = 60.0
BATCH = 2000
Grant = tuple[str, int, int, int]
"""URL, fence, and from when to when, in nanoseconds."""


@dataclass(frozen=True, kw_only=True)
class Hammered:
    """What many processes were granted."""

    leases: int
    seconds: float
    double_urls: int
    double_fences: int
    double_hosts: int
    refused: int
    left: int

    @property
    def double_grants(self) -> int:
        """URLs, fences or hosts that two had at the same time."""
        return self.double_urls + self.double_fences + self.double_hosts


def open_frontier(place: str) -> CrawlStore:
    """Open a store by its URL, or by the path of a file."""
    return RedisFrontier(place, crawl="hammer") if "://" in place else SqliteFrontier(Path(place))


def hammer(place: str, *, leases: int, processes: int = 8, hosts: int = 200) -> Hammered:
    """Let processes take and settle as many URLs as there are leases wanted."""
    asyncio.run(_fill(place, leases, hosts))
    command = [sys.executable, "-m", "tests.faults.hammer", place]
    began = time.monotonic()
    running = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE) for _ in range(processes)]
    reported = [json.loads(process.communicate()[0]) for process in running]
    seconds = time.monotonic() - began
    grants: list[Grant] = [tuple(grant) for one in reported for grant in one["grants"]]
    return Hammered(
        leases=len(grants),
        seconds=seconds,
        double_urls=_repeated(url for url, *_ in grants),
        double_fences=_repeated(fence for _, fence, *_ in grants),
        double_hosts=overlaps(grants),
        refused=sum(one["refused"] for one in reported),
        left=asyncio.run(_left(place)),
    )


async def _fill(place: str, urls: int, hosts: int) -> None:
    frontier = open_frontier(place)
    for start in range(0, urls, BATCH):
        numbers = range(start, min(start + BATCH, urls))
        await frontier.add([Candidate(url=f"http://h{n % hosts}.test/{n}", score=0.5) for n in numbers])
    await frontier.close()


async def _left(place: str) -> int:
    frontier = open_frontier(place)
    counts = await frontier.counts()
    await frontier.close()
    return counts.waiting + counts.leased


async def take_all(place: str) -> dict[str, object]:
    """Lease and settle until nothing is left; return the grants, and how many settlements were refused."""
    frontier, grants, refused = open_frontier(place), [], 0
    while True:
        leases = await frontier.lease(AT_ONCE, seconds=LEASE_SECONDS, worker="hammer")
        had_ns = time.monotonic_ns()
        if not leases:
            if await frontier.seconds_to_next() is None:
                break
            continue
        settlements = [Settlement(lease=lease, outcome=Result.DONE) for lease in leases]
        grants += [(lease.url, lease.fence, had_ns, time.monotonic_ns()) for lease in leases]
        refused += (await frontier.commit(settlements)).count(False)
    await frontier.close()
    return {"grants": grants, "refused": refused}


def _repeated(things: Iterable[object]) -> int:
    return sum(number - 1 for number in Counter(things).values())


def overlaps(grants: Iterable[Grant]) -> int:
    """Count the times at which a host was two processes' at once."""
    latest: dict[str, int] = {}
    found = 0
    for url, _, start_ns, end_ns in sorted(grants, key=lambda grant: grant[2]):
        host = host_key(url)
        found += start_ns < latest.get(host, 0)
        latest[host] = max(end_ns, latest.get(host, 0))
    return found


def on_server(kind: str, leases: int) -> Hammered:
    """Hammer a server that is started for it."""
    with tempfile.TemporaryDirectory() as folder, store_server(kind, Path(folder)) as server:
        return hammer(server.url, leases=leases)


def r14() -> Outcome:
    """Fill row R14."""
    reported = {kind: on_server(kind, 100_000) for kind in ("redis", "valkey")}
    held = all(
        not one.double_grants and not one.refused and not one.left and one.leases >= 100_000
        for one in reported.values()
    )
    words = [
        f"{kind}: {one.leases:,} leases, double grants {one.double_grants}, settlements refused {one.refused}, "
        f"left {one.left}, {one.leases / one.seconds:,.0f} per second"
        for kind, one in reported.items()
    ]
    return Outcome(held=held, figure="; ".join(words))


if __name__ == "__main__":
    print(json.dumps(asyncio.run(take_all(sys.argv[1]))))
