"""Moves URLs between the tiers of a shared frontier: spills, loads, merges of runs, and removal of runs.

The package's docstring says in which order each of them changes what, and why it may be killed at any point.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import compress
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from thresher.errors import StoreError
from thresher.frontier.redis.codec import HostRecord, Name
from thresher.frontier.redis.connection import Part
from thresher.frontier.redis.scripts import Settings
from thresher.frontier.tiered.cold import READ_AT_ONCE, ColdTier, Partition
from thresher.frontier.tiered.runs import (
    ColdRun,
    ColdUrl,
    Rows,
    is_loaded,
    key_bytes,
    key_of,
    rank_bytes,
    read_list,
    still_cold,
    write_list,
)

logger = logging.getLogger(__name__)

LOCK_SECONDS = 30.0
"""How long a lock outlives its holder; the holder renews it."""
MIN_OVER_QUOTA = 16
"""Partitions with fewer hosts over their quota are spilled only when there are far too many hot URLs."""
SPILL_HOSTS = 2_000
"""Maximum number of hosts of one spill."""
AT_ONCE = 8
"""Partitions that are spilled or loaded side by side, and scripts that are under way: the loop of a worker is busy with
pages, so each answer comes late."""
LOAD_SECONDS = 0.25
"""How long a lease waits for loads of other hosts than those that it needs."""
TO_LOAD_SEEN = 500
MAX_LOADED = 1_000
"""Maximum number of URLs of one host that one load makes hot."""
MAX_CHECKED = 8
"""Of the URLs of a host that stay cold, how many are at least checked for newer copies."""
URLS_AT_ONCE = 200
"""Maximum number of URLs per script call."""
HOSTS_AT_ONCE = 100
RUN_RATIO = 4
"""A run has at least this many times the URLs of all later ones together; otherwise they are merged."""
MIN_NEW_SCORES, NEW_SCORES_SHARE = 500, 2
"""New scores are merged into the runs of a partition when there are this many, and one for every second URL."""
KEPT_SHARE = 2
"""One of this many allowed hot URLs stays hot when a host is spilled, and as many are loaded at once."""
FLOOR_DEPTH = 4
"""The floor of a host is the score of its cold URL number `FLOOR_DEPTH` × allowance."""
GRACE_SECONDS = 3_600.0
"""How long a replaced run is kept: a store that crashed and lost its last writes may list it again."""


Moved = TypeVar("Moved")


class MigratorReplacedError(Exception):
    """Another worker took over: the lock had expired."""


class TierStore(Protocol):
    """What a migrator needs of the frontier."""

    @property
    def settings(self) -> Settings: ...

    def prefix(self, shard: int) -> bytes: ...

    async def run_script(self, name: str, shard: int, *parts: Part) -> Any: ...

    async def store_time(self, shard: int) -> float: ...

    async def host_names(self, shard: int) -> set[bytes]: ...

    async def acquire_lock(self, name: str, *, seconds: float) -> float: ...

    async def release_lock(self, name: str, *, delay_seconds: float) -> None: ...


class ColdCount(NamedTuple):
    """What is left in the runs of a host: number of URLs, rank of the best as bytes, score that is the floor."""

    name: bytes
    host: HostRecord
    left: int
    best_cold: bytes
    floor: str

    @property
    def lost(self) -> int:
        return max(0, self.host.cold - self.left)


class Migrator:
    """Moves URLs of one crawl. Only the holder of a shard's lock does so, with a number that later holders exceed."""

    def __init__(self, store: TierStore, cold: ColdTier) -> None:
        self._store, self._cold = store, cold
        self._connection = cold.connection
        self._swept: set[int] = set()

    @asynccontextmanager
    async def lock(self, shard: int) -> AsyncIterator[int]:
        """Hold the lock of a shard; yield the number of the migrator, 0 when another worker has the lock."""
        name = f"tiers {shard}"
        if await self._store.acquire_lock(name, seconds=LOCK_SECONDS) > 0:
            yield 0
            return
        renewals = asyncio.create_task(self._renew(name))
        try:
            yield int(await self._connection.call("HINCRBY", self._store.prefix(shard) + b"x", "mover", 1))
        except MigratorReplacedError:
            logger.warning("this worker did not run for %g s; another one moves URLs between the tiers", LOCK_SECONDS)
            name = ""
        finally:
            renewals.cancel()
            if name:
                await self._store.release_lock(name, delay_seconds=0.0)

    async def _renew(self, name: str) -> None:
        while True:
            await asyncio.sleep(LOCK_SECONDS / 3)
            with suppress(StoreError):  # the move itself reports it
                await self._store.release_lock(name, delay_seconds=LOCK_SECONDS)

    async def allowance(self, shard: int) -> int:
        """Return how many hot URLs a host may have."""
        known = int(await self._connection.call("HGET", self._store.prefix(shard) + b"x", "hosts") or 0)
        settings = self._store.settings
        return max(settings.least_hot, settings.hot_urls // max(1, known))

    # Hot to cold

    async def spill(self, shard: int, migrator: int) -> int:
        """Spill the hosts over their quota of some partitions; return how many hosts there were.

        These are the partitions with most such hosts. Where none has many, any may have one with thousands of URLs.
        """
        fullest = await self.fullest(shard)
        if fullest and fullest[0][1] < MIN_OVER_QUOTA:
            fullest = random.sample(fullest, min(AT_ONCE, len(fullest)))
        chosen: list[int] = []
        hosts = 0
        for partition, over_quota in fullest[:AT_ONCE]:
            if chosen and hosts + over_quota > SPILL_HOSTS:
                break
            chosen.append(partition)
            hosts += over_quota
        allowance = await self.allowance(shard)
        spilled = await all_of(self._spill_partition(shard, migrator, each, allowance) for each in chosen)
        for partition in chosen:  # one after the other: a merge takes memory
            await self._merge_if_due(shard, migrator, partition)
        return sum(spilled)

    async def fullest(self, shard: int, limit: int = 0) -> list[tuple[int, int]]:
        """Return the partitions with hosts over their quota, those with most first, each with their number."""
        prefix = self._store.prefix(shard)
        found = await self._connection.call("ZREVRANGE", prefix + b"W", 0, limit - 1, "WITHSCORES")
        pairs = found if found and isinstance(found[0], list | tuple) else zip(found[::2], found[1::2], strict=True)
        return [(int(partition), int(float(number))) for partition, number in pairs]

    async def _spill_partition(self, shard: int, migrator: int, partition: int, allowance: int) -> int:
        """Spill the hosts over their quota of a partition; return how many hosts there were."""
        prefix = self._store.prefix(shard)
        names = await self._connection.call("SRANDMEMBER", prefix + b"w%d" % partition, SPILL_HOSTS)
        if not names:
            await self._connection.call("ZREM", prefix + b"W", partition)
            return 1
        hosts = await self._cold.hosts(prefix, names)
        chosen = await self._worst(prefix, hosts, hot_kept(allowance))
        await self._write_spilled(shard, migrator, partition, [url for urls in chosen.values() for url in urls])
        depth = FLOOR_DEPTH * allowance
        await self._remove(shard, migrator, {name: (hosts.get(name), chosen.get(name, [])) for name in names}, depth)
        return len(names)

    async def _merge_if_due(self, shard: int, migrator: int, partition: int) -> None:
        """Merge the runs of a partition when they are many, or when many new scores wait."""
        prefix = self._store.prefix(shard)
        runs = await self._cold.runs(prefix, partition)
        is_full = await self._cold.new_scores(prefix, partition) > most_new_scores(runs)
        first = 0 if is_full else first_to_merge(runs)
        if first < len(runs) - 1:
            await self.merge(shard, migrator, partition, first)

    async def _worst(self, prefix: bytes, hosts: dict[bytes, HostRecord], kept: int) -> dict[bytes, list[ColdUrl]]:
        """Return the hot URLs of hosts without the best ones, best first."""
        keys = [
            (name, prefix + b"q" + name + (b" %d" % chunk if chunk else b""))
            for name, host in hosts.items()
            for chunk in range(host.chunks)
        ]
        waiting: dict[bytes, list[ColdUrl]] = defaultdict(list)
        for start in range(0, len(keys), READ_AT_ONCE):
            part = keys[start : start + READ_AT_ONCE]
            chunks = await self._connection.call_all([("HGETALL", key) for _, key in part])
            for (name, _), chunk in zip(part, chunks, strict=True):
                waiting[name] += [ColdUrl.of(name, rest, 0, record) for rest, record in chunk.items() if rest]
        return {name: [_keyed(url) for url in sorted(urls, key=_rank)[kept:]] for name, urls in waiting.items()}

    async def _write_spilled(self, shard: int, migrator: int, partition: int, urls: Sequence[ColdUrl]) -> None:
        """Write and list a run."""
        if not urls:
            return
        runs = await self._cold.runs(self._store.prefix(shard), partition)
        rows = await asyncio.to_thread(lambda: Rows.of(urls).sorted())
        run, bloom_filter = await self._cold.write_run(shard, migrator, rows)
        await self._set_runs(shard, migrator, partition, [*runs, run], run, bloom_filter)

    async def _set_runs(
        self,
        shard: int,
        migrator: int,
        partition: int,
        runs: Sequence[ColdRun],
        new: ColdRun | None,
        bloom_filter: bytes,
        *,
        damaged: Iterable[ColdRun] = (),
        applied: dict[bytes, bytes] | None = None,
    ) -> None:
        """List the runs of a partition, and forget the new scores that they contain."""
        scores = [part for item in (applied or {}).items() for part in item]
        listed, name, lost = write_list(runs), new.name if new else b"", [(run.name, run.urls) for run in damaged]
        parts: list[Part] = [listed, name, bloom_filter, len(lost), *(part for each in lost for part in each)]
        await self._move("set_runs", shard, migrator, partition, *parts, *scores)

    async def _remove(
        self, shard: int, migrator: int, spilled: dict[bytes, tuple[HostRecord | None, list[ColdUrl]]], depth: int
    ) -> None:
        """Remove the URLs of a listed run from the store, and note that their hosts keep their quota."""
        parts: list[Part] = []
        calls = [parts]
        number = 0
        for name, (host, urls) in spilled.items():
            is_deep = host is not None and host.floor == -math.inf and len(urls) > depth
            floor = repr(urls[depth - 1].score) if is_deep else ""
            for start in range(0, max(1, len(urls)), URLS_AT_ONCE):
                portion = urls[start : start + URLS_AT_ONCE]
                if number + len(portion) > URLS_AT_ONCE:
                    parts, number = [], 0
                    calls.append(parts)
                parts += [name, floor, len(portion), *_spilled_parts(portion)]
                number += max(1, len(portion))
        for begin in range(0, len(calls), AT_ONCE):
            await all_of(self._move("spill", shard, migrator, *each) for each in calls[begin : begin + AT_ONCE] if each)

    # Cold to hot

    async def load(
        self, shard: int, migrator: int, first: Sequence[bytes] = (), *, seconds: float = LOAD_SECONDS
    ) -> int:
        """Load the best cold URLs of hosts that need them, for a short time; return how many hosts.

        Args:
            first: Hosts that must be among them.
            seconds: How long it goes on to other partitions than those of these hosts.
        """
        prefix, began = self._store.prefix(shard), time.monotonic()
        listed = await self._connection.call("SRANDMEMBER", prefix + b"N", TO_LOAD_SEEN)
        by_partition: dict[int, list[bytes]] = defaultdict(list)
        for name in dict.fromkeys([*first, *listed]):
            by_partition[self._cold.partition_of(name)].append(name)
        allowance = await self.allowance(shard)
        loaded, required, partitions = 0, set(first), list(by_partition)
        for begin in range(0, len(partitions), AT_ONCE):
            chosen = partitions[begin : begin + AT_ONCE]
            names = [name for partition in chosen for name in by_partition[partition]]
            if loaded and time.monotonic() - began > seconds and required.isdisjoint(names):
                break
            are_due = await all_of(
                self._load_partition(shard, migrator, each, by_partition[each], allowance) for each in chosen
            )
            for partition in compress(chosen, are_due):  # one after the other: a merge takes memory
                await self.merge(shard, migrator, partition)
            loaded += len(names)
        return loaded

    async def _load_partition(
        self, shard: int, migrator: int, partition: int, names: Sequence[bytes], allowance: int
    ) -> bool:
        """Load the best URLs of some hosts; return whether the runs must be merged, because many new scores wait."""
        prefix = self._store.prefix(shard)
        while (read := await self._cold.read(prefix, shard, partition, names)).damaged:
            await self.discard(shard, migrator, partition)
        spans = read.rows.by_host()
        for name in names:
            begin, end = spans.get(name, (0, 0))
            await self._load_host(shard, migrator, name, read.hosts.get(name), read.rows.part(begin, end), allowance)
        return len(read.new_scores) > most_new_scores(read.runs)

    async def _load_host(
        self, shard: int, migrator: int, name: bytes, host: HostRecord | None, rows: Rows, allowance: int
    ) -> None:
        """Load the best URLs of a host; `rows` are all of it that are in the runs, best first."""
        if host is None or not host.has_cold:
            await self._move("load", shard, migrator, name, b"", b"", 0, "", 0)
            return
        most = min(MAX_LOADED, hot_kept(allowance))
        best, doubles, others = await self._current(
            self._store.prefix(shard), host, still_cold(rows, host), most + MAX_CHECKED
        )
        scores = np.concatenate([[url.score for url in best], others.scores])
        best_cold, depth = rank_bytes(host.best_cold, host.best_cold_age), FLOOR_DEPTH * allowance
        for start in range(0, max(1, min(most, len(best))), URLS_AT_ONCE):
            end = min(most, start + URLS_AT_ONCE)
            loaded, number = best[start:end], max(0, len(scores) - end)
            next_best_cold = rank_bytes(best[end].score, best[end].age) if number else b""
            floor = repr(float(scores[end + depth - 1])) if number > depth else ""
            left = max(0, number - sum(doubles[end:]))
            await self._move(
                "load",
                shard,
                migrator,
                name,
                best_cold,
                next_best_cold,
                left,
                floor,
                len(loaded),
                *_loaded_parts(loaded),
            )
            best_cold = next_best_cold

    async def _current(
        self, prefix: bytes, host: HostRecord, rows: Rows, wanted: int
    ) -> tuple[list[ColdUrl], list[bool], Rows]:
        """Check the best URLs until enough are found that are not obsolete.

        Returns:
            These URLs; for each of them whether a newer copy is hot; and the rows that were not checked, which are none
            when fewer than `wanted` were found.
        """
        kept: list[ColdUrl] = []
        doubles: list[bool] = []
        checked = 0
        while checked < len(rows) and len(kept) < wanted:
            urls = rows.part(checked, checked + wanted).urls()
            states = await self._cold.states(prefix, host, urls, self._store.settings.seen_keys)
            kept += [url for url, state in zip(urls, states, strict=True) if state >= 0]
            doubles += [bool(state == 0) for state in states if state >= 0]
            checked += len(urls)
        return kept, doubles, rows.part(checked)

    # Merging runs

    async def merge(self, shard: int, migrator: int, partition: int, first: int = 0) -> None:
        """Merge the runs of a partition from the number `first` on into one, without URLs that were loaded.

        If these are all runs, new scores are applied, and the worst URLs of hosts that have too many are evicted.
        """
        prefix = self._store.prefix(shard)
        read = await self._cold.read(prefix, shard, partition, first=first)
        if read.damaged:
            await self.discard(shard, migrator, partition)
            return
        spans, hosts = read.rows.by_host(), read.hosts
        room = self._store.settings.waiting_per_host if first == 0 else None
        pending = read.new_scores if first == 0 else await self._connection.call("HKEYS", prefix + b"o%d" % partition)
        rows, evicted = await asyncio.to_thread(_without_loaded, read.rows, spans, hosts, room, pending)
        run: ColdRun | None = None
        content = b""
        if len(rows):
            run, content = await self._cold.write_run(shard, migrator, rows)
        runs = read.runs[:first] + ([run] if run else [])
        for start in range(0, len(evicted), URLS_AT_ONCE):  # first: an eviction that is recorded twice does no harm
            await self._move(
                "evict", shard, migrator, *_evicted_parts(evicted.part(start, start + URLS_AT_ONCE).urls())
            )
        await self._set_runs(shard, migrator, partition, runs, run, content, applied=read.new_scores)
        if first == 0:
            await self._recount(shard, migrator, rows, hosts, evicted)

    async def _recount(
        self, shard: int, migrator: int, rows: Rows, hosts: dict[bytes, HostRecord], evicted: Rows
    ) -> None:
        """Correct number, best_cold and floor of the hosts of merged runs."""
        spans, scores, ages = rows.by_host(), rows.scores, rows.ages
        gone = {name: end - begin for name, (begin, end) in evicted.by_host().items()}
        depth = FLOOR_DEPTH * await self.allowance(shard)
        parts: list[Part] = []
        for name, host in hosts.items():
            if not host.has_cold:
                continue
            begin, end = spans.get(name, (0, 0))
            best_cold = rank_bytes(float(scores[begin]), int(ages[begin])) if end > begin else b""
            floor = repr(float(scores[begin + depth - 1])) if end - begin > depth else ""
            parts += [name, rank_bytes(host.best_cold, host.best_cold_age), best_cold, gone.get(name, 0), floor]
        for start in range(0, len(parts), 5 * HOSTS_AT_ONCE):
            await self._move("fix_cold_counts", shard, migrator, *parts[start : start + 5 * HOSTS_AT_ONCE])

    # Damaged runs

    async def discard(self, shard: int, migrator: int, partition: int) -> None:
        """Take damaged runs off the list of a partition; the store notes them with the number of their lost URLs.

        Their objects are kept, their filters are not: so the URLs are new when they are found again. Until the hosts
        are counted, the number is that of all URLs of the runs, which includes those that were loaded before.
        """
        prefix = self._store.prefix(shard)
        read, counts = await self.recounted(shard, partition)
        if not read.damaged:  # a second attempt could read it
            return
        runs = [run for run in read.runs if run not in read.damaged]
        await self._set_runs(shard, migrator, partition, runs, None, b"", damaged=read.damaged)
        parts: list[Part] = []
        for each in counts:
            parts += [
                each.name,
                rank_bytes(each.host.best_cold, each.host.best_cold_age),
                each.best_cold,
                each.left,
                each.floor,
                0,
            ]
        for start in range(0, len(parts), 6 * HOSTS_AT_ONCE):
            await self._move("load", shard, migrator, *parts[start : start + 6 * HOSTS_AT_ONCE])
        lost = sum(each.lost for each in counts)
        first, *others = read.damaged
        numbers = [part for run in others for part in (run.name, 0)]
        await self._connection.call("HSET", prefix + b"D", first.name, lost, *numbers)
        logger.error(
            "the cold storage has lost %d waiting URLs: %s. The crawl goes on without them; thresher verify --repair "
            "queues those again that stored pages link to",
            lost,
            "; ".join(read.damaged.values()),
        )

    async def recounted(self, shard: int, partition: int) -> tuple[Partition, list[ColdCount]]:
        """Count the URLs of all hosts of a partition in the runs that can be read."""
        prefix = self._store.prefix(shard)
        read = await self._cold.read(prefix, shard, partition)
        if not read.damaged:
            return read, []
        names = [name for name in await self._store.host_names(shard) if self._cold.partition_of(name) == partition]
        hosts = {**await self._cold.hosts(prefix, names), **read.hosts}
        spans, depth = read.rows.by_host(), FLOOR_DEPTH * await self.allowance(shard)
        counts: list[ColdCount] = []
        for name, host in hosts.items():
            if host.has_cold:
                rows = still_cold(read.rows.part(*spans.get(name, (0, 0))), host)
                best, doubles, others = await self._current(prefix, host, rows, MAX_CHECKED)
                scores = np.concatenate([[url.score for url in best], others.scores])
                best_cold = rank_bytes(best[0].score, best[0].age) if best else b""
                floor = repr(float(scores[depth - 1])) if len(scores) > depth else ""
                counts.append(ColdCount(name, host, max(0, len(scores) - sum(doubles)), best_cold, floor))
        return read, counts

    # Old objects

    async def sweep(self, shard: int, migrator: int) -> None:
        """Delete runs that were replaced long ago; at the first time, also note objects that no partition lists."""
        prefix = self._store.prefix(shard)
        now = await self._store.store_time(shard)
        obsolete: dict[bytes, bytes] = await self._connection.call("HGETALL", prefix + b"O")
        if shard not in self._swept:
            self._swept.add(shard)
            for run in await self.orphans(shard):
                if run.migrator < migrator:
                    await self._connection.call("HSET", prefix + b"O", run.name, repr(now))
        for name, since in obsolete.items():
            if now - float(since) >= GRACE_SECONDS:
                await self._cold.delete_run(shard, ColdRun(name, 0))
                await self._connection.call("HDEL", prefix + b"O", name)

    async def orphans(self, shard: int) -> list[ColdRun]:
        """Return the stored runs that are neither listed, nor to be deleted, nor kept because they are damaged."""
        prefix, stored = self._store.prefix(shard), await self._cold.stored_runs(shard)
        lists, obsolete, damaged = await self._connection.call_all(
            [("HVALS", prefix + b"R"), ("HKEYS", prefix + b"O"), ("HKEYS", prefix + b"D")]
        )
        known = {run.name for each in lists for run in read_list(each)} | set(obsolete) | set(damaged)
        return [run for run in stored if run.name not in known]

    async def _move(self, script: str, shard: int, migrator: int, *parts: Part) -> int:
        answer = await self._store.run_script(script, shard, migrator, *parts)
        if answer == -1:
            raise MigratorReplacedError
        return int(answer)


async def all_of(moves: Iterable[Coroutine[Any, Any, Moved]]) -> list[Moved]:
    """Return the results of moves that run side by side; when one fails, the others are ended first."""
    tasks = [asyncio.ensure_future(move) for move in moves]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def hot_kept(allowance: int) -> int:
    """Return how many URLs of a host stay hot when it is spilled, and how many are loaded at most."""
    return max(1, allowance // KEPT_SHARE)


def most_new_scores(runs: Sequence[ColdRun]) -> int:
    """Return how many new scores of a partition may wait before its runs are merged."""
    return max(MIN_NEW_SCORES, sum(run.urls for run in runs) // NEW_SCORES_SHARE)


def first_to_merge(runs: Sequence[ColdRun]) -> int:
    """Return the first of the runs that are to be merged: it and all later ones; the last if none are."""
    first, later = len(runs) - 1, 0
    for number in range(len(runs) - 1, 0, -1):
        later += runs[number].bits
        if runs[number - 1].bits < RUN_RATIO * later:
            first = number - 1
    return first


def _without_loaded(
    rows: Rows,
    spans: dict[bytes, tuple[int, int]],
    hosts: dict[bytes, HostRecord],
    room: int | None,
    pending: Iterable[bytes],
) -> tuple[Rows, Rows]:
    """Return the rows that were not loaded, of each host at most as many as may wait, and the rest, to be evicted.

    Args:
        pending: Keys of URLs with new scores: they may be cold even before best_cold, because one was not applied yet,
            or came after the hosts were read.
    """
    lengths = [end - begin for begin, end in spans.values()]
    records = [hosts.get(name) for name in spans]
    best_colds = np.repeat([host.best_cold if host else -math.inf for host in records], lengths)
    best_cold_ages = np.repeat([host.best_cold_age if host else 0 for host in records], lengths)
    is_pending = np.isin(rows.keys, np.array([int.from_bytes(key, "big") for key in pending], dtype=np.uint64))
    kept = rows.take(~is_loaded(rows, best_colds, best_cold_ages) | is_pending)
    keep = np.ones(len(kept), dtype=bool)
    for name, (begin, end) in kept.by_host().items():
        most = end if room is None else max(0, room - hosts[name].waiting)
        if end - begin > most:
            keep[begin + most : end] = False
    return kept.take(keep), kept.take(~keep)


def _rank(url: ColdUrl) -> tuple[float, int]:
    return url.rank


def _keyed(url: ColdUrl) -> ColdUrl:
    key = key_of(Name.within(url.host, url.rest))
    return ColdUrl(url.host, url.rest, key, url.score, url.age, url.flags, url.tail)


def _spilled_parts(urls: Iterable[ColdUrl]) -> Iterable[Part]:
    for url in urls:
        yield from (url.rest, url.key >> 32, url.record)


def _evicted_parts(urls: Iterable[ColdUrl]) -> Iterable[Part]:
    for url in urls:
        name = Name.within(url.host, url.rest)
        yield from (url.host, url.rest, name.number, name.member)


def _loaded_parts(urls: Iterable[ColdUrl]) -> Iterable[Part]:
    for url in urls:
        name = Name.within(url.host, url.rest)
        yield from (url.rest, name.number, name.member, key_bytes(url.key), url.record)
