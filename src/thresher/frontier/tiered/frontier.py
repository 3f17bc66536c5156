"""The frontier in two tiers: a shared frontier whose worse waiting URLs are in a cold storage."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from thresher.errors import StoreError
from thresher.frontier.base import COLD_FAILURE, CRAWL_WIDE, LOST_WITH_FILES, FailureCount, Merge, UrlEntry, UrlState
from thresher.frontier.redis.codec import HostRecord, Name, Record, to_text, url_of
from thresher.frontier.redis.connection import Part, RedisConnection
from thresher.frontier.redis.frontier import LeaseAnswer, RedisFrontier
from thresher.frontier.redis.queries import Best
from thresher.frontier.redis.scripts import MIN_HOT, PARTITIONS, Settings
from thresher.frontier.redis.shards import Shards
from thresher.frontier.tiered.cold import ColdStorageFailed, ColdTier
from thresher.frontier.tiered.migrator import MIN_OVER_QUOTA, Migrator, hot_kept
from thresher.frontier.tiered.runs import ColdRun, ColdUrl, key_of
from thresher.objects.base import Objects
from thresher.records import Candidate, Lease, Settlement
from thresher.urls.canonical import host_key

logger = logging.getLogger(__name__)

HOT_URLS = 5_000_000
"""Default number of waiting URLs in the store, about half a gigabyte, above which the worse ones become cold."""
MIN_BOUND = 16
"""Nothing becomes cold where hosts may have at most this many times `least_hot` waiting URLs: it would save little."""
FEW_STEPS = 50
"""Steps of moving URLs that a shard with hardly any hosts may need."""
OVER_QUOTA_SHARE = 8
"""A partition is spilled when `MIN_OVER_QUOTA` of its hosts are over their quota, or one of eight if that is more."""
FULL_SHARE = 1.1
"""At this many times the hot URLs, partitions with fewer such hosts are spilled too."""
MAX_LOADS = 5
"""Maximum number of loads before one lease; then hosts that still need one are passed over."""
STEP_SECONDS = 2.0
"""How long a worker moves URLs before others may."""
LOCK_PAUSE_SECONDS = 0.1
"""How long a worker does not ask again for the lock of a shard that another one holds."""
RESTORED_AT_ONCE = 8_192
"""Cold URLs that are looked up at once: each call reads every run that may have one."""
SWEEP_SECONDS = 600.0
FAILED_PAUSE_SECONDS = 30.0
"""How long a worker leaves a cold storage alone that failed."""


class EndlessMoves(StoreError):
    """URLs were moved between the tiers again and again, which is an error of the frontier."""

    def __init__(self, shard: int, steps: int, hosts: int) -> None:
        super().__init__(
            f"URLs of shard {shard} move between the tiers without end: {steps} steps for {hosts} hosts; "
            f"no URL is lost, but this is an error of Thresher: please report it"
        )


@dataclass(kw_only=True)
class ColdCheck:
    """The result of a check of all runs.

    Args:
        runs: Runs that are listed, damaged ones included.
        damaged: Names of the objects that are missing or damaged, each with the reason.
        damaged_urls: Number of waiting URLs in them.
        damaged_left: Number of them that are still listed.
        restored: Number of lost URLs that wait again, because their objects can be read again.
        unlisted: Number of objects of this crawl that no list has.
        lost: Number of lost URLs that were not queued again, by the shards and names of runs that were taken off.
    """

    runs: int = 0
    damaged: list[str] = field(default_factory=list)
    damaged_urls: int = 0
    damaged_left: int = 0
    restored: int = 0
    unlisted: int = 0
    lost: dict[tuple[int, bytes], int] = field(default_factory=dict)


class TieredFrontier(RedisFrontier):
    """A shared frontier with a cold storage; the package's docstring has its promises.

    Args:
        url: URL of the store, or an existing connection.
        crawl: Name of the crawl in the store.
        objects: The cold storage; the same for all workers.
        hot_urls: Number of waiting URLs in the store, over all shards, above which the worse ones become cold.
        least_hot: Number of URLs of a host that stay hot in any case.
        partitions: Number of parts of the cold storage of a shard of a new crawl.
        background: Whether URLs are moved beside the calls; otherwise each call returns after they were moved.
        settings: As for `RedisFrontier`.
    """

    def __init__(
        self,
        url: str | RedisConnection,
        crawl: str,
        *,
        objects: Objects,
        hot_urls: int = HOT_URLS,
        least_hot: int = MIN_HOT,
        partitions: int = PARTITIONS,
        background: bool = True,
        merge: Merge = Merge.MAX,
        clock: Callable[[], float] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(url, crawl, merge=merge, clock=clock, **settings)
        self._hot_urls, self._least_hot = hot_urls, least_hot
        self._settings = replace(self._settings, partitions=partitions)
        self._background = background
        self._cold = ColdTier(self.connection, objects, crawl, merge)
        self._migrator = Migrator(self, self._cold)
        self._queries.cold = self._best_cold
        self._task: asyncio.Task[None] | None = None
        self._swept = -math.inf
        self._failed = -math.inf
        self._locked_until: dict[int, float] = {}
        self._shard_of: dict[bytes, int] = {}

    # What changes URLs

    async def add(self, candidates: Sequence[Candidate]) -> int:
        new = await super().add(candidates)
        await self._settle()
        return new

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        held = await super().commit(settlements)
        await self._settle()
        return held

    async def release(self, leases: Sequence[Lease], *, delay_seconds: float = 0.0) -> None:
        await super().release(leases, delay_seconds=delay_seconds)
        await self._settle()

    async def rescore(self, scores: Mapping[str, float], *, was: Mapping[str, float] | None = None) -> int:
        waited = await super().rescore(scores, was=was)
        await self._settle()
        return waited

    async def reopen(self, candidates: Sequence[Candidate]) -> int:
        """Queue done and failed URLs again; the filters, which may still know them, are not asked."""
        await self._opened()
        with self.without_filters():
            return await super().reopen(candidates)

    @contextmanager
    def without_filters(self) -> Iterator[None]:
        """Add URLs without asking the filters: the caller knows that they are not cold. The crawl must be open."""
        packed, self._packed_settings = self._packed_settings, replace(self._settings, hot_urls=0).to_bytes()
        try:
            yield
        finally:
            self._packed_settings = packed

    async def _lease_of(self, shard: int, limit: int, seconds: float, worker: str, pages: int | None) -> list[Lease]:
        leases: list[Lease] = []
        pass_over = time.monotonic() < self._locked_until.get(shard, -math.inf)
        for loads in range(MAX_LOADS + 1):
            pass_over |= loads == MAX_LOADS
            wanted = limit - len(leases)
            granted, found = await self._ask_lease(shard, wanted, seconds, worker, pages, pass_over=pass_over)
            leases += granted
            if pass_over or not found.skipped_hosts or len(leases) >= limit:
                break
            pass_over = not await self._load_now(shard, found.skipped_hosts)
        await self._start_moving(shard, found)
        return leases

    # What is asked

    async def find_all(self, urls: Sequence[str]) -> list[UrlEntry | None]:
        """Return several URLs as `find` does; those that the store does not know are looked up in the cold storage."""
        found = await super().find_all(urls)
        shards = await self._opened()
        unknown: dict[tuple[int, int], dict[int, tuple[int, bytes]]] = {}
        for index, (url, entry) in enumerate(zip(urls, found, strict=True)):
            if entry is None:
                host = host_key(url)
                name = Name.of(url, host)
                place = shards.of(host), self._cold.partition_of(name.host)
                unknown.setdefault(place, {})[key_of(name)] = index, name.host
        for (shard, partition), wanted in unknown.items():
            hosts = {host for _, host in wanted.values()}
            for cold in await self._cold.find(self.prefix(shard), shard, partition, hosts, wanted):
                found[wanted[cold.key][0]] = _entry(cold)
        return found

    async def failures(self) -> list[FailureCount]:
        lost = sum((await self._lost_urls()).values())
        found = await super().failures()
        return [*found, FailureCount(host="", reason=LOST_WITH_FILES, urls=lost)] if lost else found

    async def _best_cold(self, prefix: bytes, name: bytes, host: HostRecord, limit: int, ceiling: float) -> list[Best]:
        """Return the best cold URLs of a host; none while the cold storage fails."""
        below: list[ColdUrl] = []

        async def read() -> None:
            urls = await self._cold.urls_of(prefix, self._shard_of[prefix], name, host)
            below.extend(url for url in urls if url.score < ceiling)

        await self._guarded(read)
        states = await self._cold.states(prefix, host, below[: 2 * limit], self._settings.seen_keys)
        best = [url for url, state in zip(below, states, strict=False) if state == 1]
        return [(-url.score, url.age, _entry(url)) for url in best[:limit]]

    async def close(self) -> None:
        if self._task and self._task.get_loop() is asyncio.get_running_loop():
            await asyncio.wait([self._task])
        await super().close()

    # Damaged runs

    async def check_runs(self, *, repair: bool = False) -> ColdCheck:
        """Read all runs.

        With `repair`, damaged ones are taken off the lists, unless another worker moves URLs, and the URLs of those are
        queued that were taken off before and can be read again: a folder was not mounted, or a copy was put back.
        """
        check = ColdCheck()
        for shard in await self._opened():
            if not repair:
                await self._check_shard(shard, check, 0)
                continue
            check.restored += await self._restore(shard)
            async with self._migrator.lock(shard) as migrator:
                await self._check_shard(shard, check, migrator)
        check.lost = await self._lost_urls()
        return check

    async def _check_shard(self, shard: int, check: ColdCheck, migrator: int) -> None:
        for partition in map(int, await self.connection.call("HKEYS", self.prefix(shard) + b"R")):
            read, counts = await self._migrator.recounted(shard, partition)
            check.runs += len(read.runs)
            check.damaged += read.damaged.values()
            check.damaged_urls += sum(each.lost for each in counts)
            check.damaged_left += len(read.damaged)
            if migrator and read.damaged:
                await self._migrator.discard(shard, migrator, partition)
                check.damaged_left -= len(read.damaged)
        check.unlisted += len(await self._migrator.orphans(shard))

    async def _restore(self, shard: int) -> int:
        restored, key = 0, self.prefix(shard) + b"D"
        for name in await self.connection.call("HKEYS", key):
            rows = await self._cold.read_again(shard, ColdRun(name, 0))
            if rows is None:
                continue
            for start in range(0, len(rows), RESTORED_AT_ONCE):
                urls = [_candidate(url) for url in rows.part(start, start + RESTORED_AT_ONCE).urls()]
                found = await self.find_all([candidate.url for candidate in urls])
                with self.without_filters():
                    restored += await self.add([url for url, entry in zip(urls, found, strict=True) if entry is None])
            await self.connection.call("HDEL", key, name)  # its object belongs to no list now, and is deleted later
        return restored

    async def forget_loss(self, check: ColdCheck) -> None:
        """Note that lost URLs were queued again; the objects of damaged runs are still kept."""
        for shard, run in check.lost:
            await self.connection.call("HSET", self.prefix(shard) + b"D", run, 0)

    async def _lost_urls(self) -> dict[tuple[int, bytes], int]:
        lost: dict[tuple[int, bytes], int] = {}
        for shard in await self._opened():
            damaged = await self.connection.call("HGETALL", self.prefix(shard) + b"D")
            lost |= {(shard, run): int(urls) for run, urls in damaged.items() if int(urls)}
        return lost

    # Moving URLs

    async def maintain(self) -> None:
        """Move URLs between the tiers until nothing is left to do, or another worker does it.

        This ends: a load leaves no host to load, and neither a spill nor a merge of runs makes one. So each host is
        moved a few times at most.

        Raises:
            EndlessMoves: There were many more steps than hosts. Workers never call this: they move URLs one step at a
                time, between leases.
        """
        for shard in await self._opened():
            steps = 0
            while (work := await self._work(shard)) and await self._step(shard, work):
                steps += 1
                if steps > FEW_STEPS + 4 * work.hosts:
                    raise EndlessMoves(shard, steps, work.hosts)

    async def _settle(self) -> None:
        if not self._background:
            await self.maintain()

    async def _start_moving(self, shard: int, found: LeaseAnswer) -> None:
        if not self._is_work(found):
            return
        if not self._background:
            await self.maintain()
        elif self._task is None or self._task.done():
            self._task = asyncio.create_task(self._move_beside(shard, found))

    async def _move_beside(self, shard: int, found: LeaseAnswer) -> None:
        try:
            await self._step(shard, found)
        except Exception:
            logger.exception("URLs could not be moved between the tiers; it is tried again")
            self._failed = time.monotonic()

    def _is_work(self, found: LeaseAnswer) -> bool:
        return bool(self._settings.hot_urls and (found.to_load or self._is_full(found)))

    def _is_full(self, found: LeaseAnswer) -> bool:
        """Return whether a spill is due: runs should be large, but hot URLs not too many.

        What hosts keep in any case is not too many: spills for less would never end, and each would move a few URLs.
        """
        most = max(self._settings.hot_urls, hot_kept(self._least_hot) * found.hosts)
        enough = max(MIN_OVER_QUOTA, found.hosts // self._settings.partitions // OVER_QUOTA_SHARE)
        return bool(
            found.over_quota and found.hot > most and (found.over_quota >= enough or found.hot > FULL_SHARE * most)
        )

    async def _work(self, shard: int) -> LeaseAnswer | None:
        prefix = self.prefix(shard)
        to_load, sums = await self.connection.call_all(
            [("SCARD", prefix + b"N"), ("HMGET", prefix + b"x", "waiting", "cold", "hosts")]
        )
        waiting, cold, hosts = (int(each or 0) for each in sums)
        fullest = await self._migrator.fullest(shard, 1)
        work = LeaseAnswer([], to_load, waiting - cold, fullest[0][1] if fullest else 0, hosts)
        return work if self._is_work(work) else None

    async def _load_now(self, shard: int, skipped_hosts: Sequence[bytes]) -> bool:
        """Load URLs of the hosts that a lease met; return whether it may be repeated."""
        return await self._guarded(lambda: self._load(shard, skipped_hosts))

    async def _load(self, shard: int, skipped_hosts: Sequence[bytes]) -> bool:
        async with self._migrator.lock(shard) as migrator:
            if not migrator:
                self._locked_until[shard] = time.monotonic() + LOCK_PAUSE_SECONDS
                return False
            return bool(await self._migrator.load(shard, migrator, skipped_hosts))
        return False

    async def _step(self, shard: int, work: LeaseAnswer) -> bool:
        """Move URLs for some seconds; return whether something was moved."""
        return await self._guarded(lambda: self._move(shard, work))

    async def _move(self, shard: int, work: LeaseAnswer) -> bool:
        moved, began = 0, time.monotonic()
        async with self._migrator.lock(shard) as migrator:
            if not migrator:
                return False
            if began - self._swept > SWEEP_SECONDS:
                self._swept = began
                await self._migrator.sweep(shard, migrator)
            if work.to_load:
                moved += await self._migrator.load(shard, migrator, seconds=STEP_SECONDS / 2)
            now: LeaseAnswer | None = work
            while now and self._is_full(now) and time.monotonic() - began < STEP_SECONDS:
                moved += await self._migrator.spill(shard, migrator)
                now = await self._work(shard)
                if now and now.to_load:  # nothing is fetched from these hosts until then, and spills can wait
                    moved += await self._migrator.load(shard, migrator, seconds=STEP_SECONDS / 2)
        return bool(moved)

    async def _guarded(self, move: Callable[[], Any]) -> bool:
        """Read or move URLs unless the cold storage failed a short time ago; log when it fails."""
        if time.monotonic() - self._failed < FAILED_PAUSE_SECONDS:
            return False
        try:
            return bool(await move())
        except ColdStorageFailed as error:
            self._failed = time.monotonic()
            logger.error("the cold storage fails; it is tried again in %g s: %s", FAILED_PAUSE_SECONDS, error)
            await self.put_state(CRAWL_WIDE, COLD_FAILURE, str(error), seconds=2 * FAILED_PAUSE_SECONDS)
            return False

    # What the migrator needs

    @property
    def settings(self) -> Settings:
        return self._settings

    def prefix(self, shard: int) -> bytes:
        assert self._shards is not None
        return self._shards.prefix(shard)

    async def run_script(self, name: str, shard: int, *parts: Part) -> Any:
        return await self._run(name, shard, *parts)

    async def host_names(self, shard: int) -> set[bytes]:
        return await self._queries.names(self.prefix(shard))

    async def store_time(self, shard: int) -> float:
        return await self._queries.now(self.prefix(shard))

    async def _opened(self) -> Shards:
        if self._shards is None:
            shards = await super()._opened()
            self._cold.partitions = await self._kept_partitions()
            is_bounded = self._settings.waiting_per_host <= MIN_BOUND * self._least_hot
            self._settings = replace(
                self._settings,
                hot_urls=0 if is_bounded else max(1, self._hot_urls // shards.number),
                least_hot=self._least_hot,
                partitions=self._cold.partitions,
            )
            self._packed_settings = self._settings.to_bytes()
            self._shard_of = {shards.prefix(shard): shard for shard in shards}
        assert self._shards is not None
        return self._shards

    async def _kept_partitions(self) -> int:
        """Return the number of partitions of a shard, fixed when the crawl first has a cold storage."""
        key = b"th:{%s}" % self._crawl.encode()
        await self.connection.call("HSETNX", key, "partitions", self._settings.partitions)
        return int(await self.connection.call("HGET", key, "partitions"))


def _candidate(url: ColdUrl) -> Candidate:
    return Record.read(url.record).candidate(url_of(to_text(url.host), url.rest))


def _entry(url: ColdUrl) -> UrlEntry:
    host = to_text(url.host)
    return Record.read(url.record).entry(url_of(host, url.rest), host, UrlState.WAITING)
