"""The queue of a refresh: pages to visit again, beside the crawl's own queue.

In the crawl's own queue a page that was fetched is done for ever, so visits have a queue of their own. What they find
goes home: links of changed pages wait in the crawl's queue, where those that are known already change nothing, and
the next usual run follows them. So no page is fetched in a refresh but those that were chosen, and only one of the two
queues hands out URLs at a time: a host's delay holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from thresher.frontier.base import Counts, FailureCount, Frontier, HostEntry, UrlEntry
from thresher.records import Candidate, Lease, Settlement
from thresher.refresh.told import without_told


class RefreshFrontier:
    """Hands out visits, and brings what they find to the queue of the crawl.

    Args:
        visits: The queue of visits.
        home: The crawl's own queue; nothing is leased from it.
    """

    def __init__(self, visits: Frontier, home: Frontier) -> None:
        self._visits = visits
        self._home = home

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Let visits in."""
        return await self._visits.add(candidates)

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        """Hand out the visits that are most worth."""
        return await self._visits.lease(limit, seconds=seconds, worker=worker, pages=pages)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Bring the links home, then settle the visits: a crash in between brings them again, which changes nothing."""
        if links := [link for settlement in settlements for link in settlement.links]:
            await self._home.add([link._replace(carry=without_told(link.carry)) for link in links])
        return await self._visits.commit([replace(settlement, links=()) for settlement in settlements])

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        """Give visits back unused."""
        await self._visits.release(leases, delay_seconds=delay_seconds)

    async def park(self, host: str, reason: str, *, seconds: float | None = None) -> None:
        """Visit a host no more in this refresh."""
        await self._visits.park(host, reason, seconds=seconds)

    async def unpark(self, host: str) -> None:
        """Let a parked host be visited again."""
        await self._visits.unpark(host)

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Give URLs that wait at home new scores; what a visit is worth is not for strategies to say."""
        return await self._home.rescore(scores, was=was)

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        """Add to the number of relevant pages of hosts at home."""
        await self._home.adjust_relevant(changes)

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        """List the best visits."""
        return await self._visits.peek(limit, below=below)

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands at home."""
        return await self._home.find(url) or await self._visits.find(url)

    async def counts(self) -> Counts:
        """Return the refresh in numbers."""
        return await self._visits.counts()

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        """List the hosts that are visited."""
        return await self._visits.hosts(limit)

    async def find_host(self, host: str) -> HostEntry | None:
        """Return a host that is visited."""
        return await self._visits.find_host(host)

    async def failures(self) -> list[FailureCount]:
        """Count the visits that failed or wait for parked hosts."""
        return await self._visits.failures()

    async def next_hosts(self, limit: int) -> list[str]:
        """List hosts that may be asked now; see `Frontier`."""
        return await self._visits.next_hosts(limit)

    async def seconds_to_next(self) -> float | None:
        """Return the seconds until there may be a visit to make."""
        return await self._visits.seconds_to_next()

    async def first_with(self, content: int) -> int:
        """Return who brought a content first, at home or in this refresh."""
        return await self._home.first_with(content) or await self._visits.first_with(content)

    async def remember(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        """Keep what a worker learned about a host, for this refresh and for the next usual run."""
        await self._home.remember(host, kind, value, seconds=seconds)

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what is known about a host."""
        return await self._home.recall(host, kind)

    async def enter(self, gate: str, *, seconds: float) -> float:
        """Go through a gate, which both queues share."""
        return await self._home.enter(gate, seconds=seconds)

    async def leave(self, gate: str, *, delay_seconds: float) -> None:
        """Let the gate open again after a delay."""
        await self._home.leave(gate, delay_seconds=delay_seconds)

    async def identify(self, crawl_id: str) -> str:
        """Keep the id of the crawl at home."""
        return await self._home.identify(crawl_id)

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Let settled URLs wait again at home."""
        return await self._home.reopen(candidates)

    async def close(self) -> None:
        """Let go of both queues."""
        await self._visits.close()
        await self._home.close()


async def hand_over(left: Frontier, entered: Frontier) -> None:
    """Let hosts rest in the queue that is used next for as long as they must after what was asked of them before."""
    hosts = await left.hosts((await left.counts()).hosts or 1)
    resting = {host.host: host.next_seconds for host in hosts if host.next_seconds > 0 and not host.parked}
    if resting:
        known = {host.host: host for host in await entered.hosts((await entered.counts()).hosts or 1)}
        for host, seconds in resting.items():
            if host in known and not known[host].parked:
                await entered.park(host, "asked a moment ago", seconds=seconds)
