"""The frontier of a refresh: pages to revisit, in a queue beside the crawl's own frontier.

In the crawl's own frontier a fetched page is done for ever, so visits have a frontier of their own. The links that they
find are added to the crawl's frontier, where known ones change nothing, and the next normal run follows them. So a
refresh fetches only the pages that were chosen, and only one of the two frontiers leases URLs at a time: a host's delay
is kept.

A refresh leaves two files in the crawl's folder: the queue of visits, and the time when it started.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from thresher.frontier.base import Counts, CrawlStore, FailureCount, HostEntry, UrlEntry
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, Lease, Settlement
from thresher.refresh.revisit import without_validators

_SIDES = ("", "-wal", "-shm")


def queue_path(root: Path) -> Path:
    """Return the path of the queue of visits."""
    return root / "refresh.db"


def remove_queue(root: Path) -> None:
    """Delete the visits of the last refresh."""
    for side in _SIDES:
        Path(f"{queue_path(root)}{side}").unlink(missing_ok=True)


def record_start(root: Path, at: float) -> None:
    """Store when a refresh started."""
    temporary = root / ".refresh.json.new"
    temporary.write_text(json.dumps({"began": at}), encoding="utf-8")
    temporary.replace(root / "refresh.json")


def last_start(root: Path) -> float | None:
    """Return when the last refresh started; None when there was none, or its file cannot be read."""
    try:
        return float(json.loads((root / "refresh.json").read_text(encoding="utf-8"))["began"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class RefreshFrontier:
    """Leases visits, and adds the links that they find to the frontier of the crawl.

    State of hosts, verdicts, new scores and the crawl's id go to the crawl's own frontier, for the next normal run.

    Args:
        visits: The queue of visits.
        home: The crawl's own frontier; nothing is leased from it.
    """

    def __init__(self, visits: CrawlStore, home: CrawlStore) -> None:
        self._visits = visits
        self._home = home

    async def add(self, candidates: Sequence[Candidate]) -> int:
        return await self._visits.add(candidates)

    async def lease(self, limit: int, *, seconds: float, worker: str = "", pages: int | None = None) -> list[Lease]:
        return await self._visits.lease(limit, seconds=seconds, worker=worker, pages=pages)

    async def begin(self, leases: Sequence[Lease]) -> None:
        await self._visits.begin(leases)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        """Add the links to the crawl, then settle the visits: adding links again, after a crash, has no effect."""
        if links := [link for settlement in settlements for link in settlement.links]:
            await self._home.add(
                [link._replace(strategy_data=without_validators(link.strategy_data)) for link in links]
            )
        return await self._visits.commit([replace(settlement, links=()) for settlement in settlements])

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        await self._visits.release(leases, delay_seconds=delay_seconds)

    async def park(self, host: str, reason: Reason, *, seconds: float | None = None) -> None:
        await self._visits.park(host, reason, seconds=seconds)

    async def unpark(self, host: str) -> None:
        await self._visits.unpark(host)

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        """Re-score URLs of the crawl; strategies do not score visits."""
        return await self._home.rescore(scores, was=was)

    async def adjust_relevant(self, changes: Mapping[str, int]) -> None:
        await self._home.adjust_relevant(changes)

    async def peek(self, limit: int, *, below: float | None = None) -> list[UrlEntry]:
        return await self._visits.peek(limit, below=below)

    async def find(self, url: str) -> UrlEntry | None:
        return await self._home.find(url) or await self._visits.find(url)

    async def counts(self) -> Counts:
        return await self._visits.counts()

    async def hosts(self, limit: int = 100) -> list[HostEntry]:
        return await self._visits.hosts(limit)

    async def find_host(self, host: str) -> HostEntry | None:
        return await self._visits.find_host(host)

    async def failures(self) -> list[FailureCount]:
        return await self._visits.failures()

    async def next_hosts(self, limit: int) -> list[str]:
        return await self._visits.next_hosts(limit)

    async def seconds_to_next(self) -> float | None:
        return await self._visits.seconds_to_next()

    async def content_owner(self, content: int) -> int:
        return await self._home.content_owner(content) or await self._visits.content_owner(content)

    async def put_state(self, host: str, kind: str, value: str, *, seconds: float) -> None:
        await self._home.put_state(host, kind, value, seconds=seconds)

    async def get_state(self, host: str, kind: str) -> str | None:
        return await self._home.get_state(host, kind)

    async def acquire_lock(self, gate: str, *, seconds: float) -> float:
        return await self._home.acquire_lock(gate, seconds=seconds)

    async def release_lock(self, gate: str, *, delay_seconds: float) -> None:
        await self._home.release_lock(gate, delay_seconds=delay_seconds)

    async def identify(self, crawl_id: str) -> str:
        return await self._home.identify(crawl_id)

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        return await self._home.reopen(candidates)

    async def close(self) -> None:
        await self._visits.close()
        await self._home.close()


async def copy_host_delays(left: CrawlStore, entered: CrawlStore) -> None:
    """Park hosts in the frontier that is used next until the delays that are pending in the previous one are over."""
    hosts = await left.hosts((await left.counts()).hosts or 1)
    delayed = {host.host: host.next_seconds for host in hosts if host.next_seconds > 0 and not host.parked}
    if delayed:
        known = {host.host: host for host in await entered.hosts((await entered.counts()).hosts or 1)}
        for host, seconds in delayed.items():
            if host in known and not known[host].parked:
                await entered.park(host, Reason(ReasonKind.POLITENESS), seconds=seconds)
