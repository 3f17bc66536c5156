"""URLs that are settled, and whose pages are not in the collection yet, listed in the shared store.

A worker adds its URLs before it settles them, and its machine removes them when their rows are uploaded. So when a disk
is lost, the list has every URL whose row was on it only, with what is needed to queue it again. One hash per worker and
folder: a worker of the same name in a new folder has another one.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from thresher.coordination.keys import StoreConnection, key_of, pairs_of, text_of
from thresher.errors import StoreError
from thresher.frontier.base import async_closing
from thresher.records import Candidate, Outcome, RequestKind, Settlement
from thresher.urls.canonical import fingerprint

logger = logging.getLogger(__name__)

_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class PageOwner:
    """A worker and the mark of the folder that it stores its pages in."""

    worker: str
    mark: str

    @property
    def name(self) -> str:
        return f"{self.worker} {self.mark}"


class PendingUploads:
    """The list of one crawl."""

    def __init__(self, connection: StoreConnection, crawl: str) -> None:
        self._connection = connection
        self._crawl = crawl
        self._owners = key_of(crawl, "pending-uploads")

    async def add(self, owner: PageOwner, settlements: Sequence[Settlement]) -> None:
        """List the URLs that are settled next; those that are retried, and side requests, have no page to lose."""
        entries = [part for each in settlements if _has_page(each) for part in _entry(each)]
        if entries:
            await self._connection.call("SADD", self._owners, owner.name)
            await self._connection.call("HSET", self._key(owner), *entries)

    async def remove(self, owner: PageOwner, fingerprints: Sequence[int]) -> None:
        for start in range(0, len(fingerprints), _AT_ONCE):
            part = fingerprints[start : start + _AT_ONCE]
            await self._connection.call("HDEL", self._key(owner), *part)

    async def owners(self) -> list[PageOwner]:
        """Return the workers that have ever listed a page."""
        names = sorted(text_of(name) for name in await self._connection.call("SMEMBERS", self._owners) or ())
        return [PageOwner(*name.split(" ")) for name in names if name.count(" ") == 1]

    async def number(self) -> int:
        """Return how many pages of all workers are not uploaded."""
        return sum([int(await self._connection.call("HLEN", self._key(owner))) for owner in await self.owners()])

    async def read(self, owner: PageOwner) -> dict[int, Candidate]:
        """Return the listed URLs of a worker by fingerprint; entries that cannot be read are left out."""
        entries = pairs_of(await self._connection.call("HGETALL", self._key(owner)))
        found = {}
        for name, value in entries.items():
            try:
                url, score, depth_left, hops, parent = json.loads(value)
                found[int(name)] = Candidate(
                    url=str(url),
                    score=float(score),
                    depth_left=int(depth_left),
                    hops=int(hops),
                    parent=int(parent),
                    kind=RequestKind.at(int(hops)),
                )
            except (ValueError, TypeError):
                continue
        return found

    async def close(self) -> None:
        await self._connection.close()

    def _key(self, owner: PageOwner) -> str:
        return key_of(self._crawl, "pending-uploads", owner.worker, owner.mark)


class UploadedPages:
    """Takes URLs off the list of pending uploads; those that the store did not take are kept for the next time."""

    def __init__(self, connect: Callable[[], StoreConnection], crawl: str, mark: str) -> None:
        self._connect = connect
        self._crawl = crawl
        self._mark = mark
        self._pending: dict[str, set[int]] = {}

    def remove(self, worker: str, fingerprints: Sequence[int]) -> None:
        self._pending.setdefault(worker, set()).update(fingerprints)
        try:
            asyncio.run(self._remove())
        except StoreError as error:
            logger.warning("the list of pending uploads cannot be changed now: %s", error)

    async def _remove(self) -> None:
        async with async_closing(self._connect()) as connection:
            for worker, fingerprints in list(self._pending.items()):
                pending = PendingUploads(connection, self._crawl)
                await pending.remove(PageOwner(worker, self._mark), sorted(fingerprints))
                del self._pending[worker]


def _has_page(settlement: Settlement) -> bool:
    kind = settlement.lease.kind
    return settlement.outcome is not Outcome.RETRY and kind.is_page and kind is not RequestKind.TICKET


def _entry(settlement: Settlement) -> tuple[int, str]:
    lease = settlement.lease
    return fingerprint(lease.url), json.dumps([lease.url, lease.score, lease.depth_left, lease.hops, lease.parent])
