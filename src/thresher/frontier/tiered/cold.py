"""The cold tier of a shared frontier: the runs of its partitions, and the cold URLs of hosts."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ObjectMissing, StoreError, StoreRefused, StoreUnreachable
from thresher.frontier.redis.codec import HostRecord, Name, split_record
from thresher.frontier.redis.connection import RedisConnection
from thresher.frontier.redis.shards import keep_id
from thresher.frontier.tiered.runs import (
    ColdRun,
    ColdUrl,
    NewScore,
    Rows,
    RunDamaged,
    key_bytes,
    merge_rows,
    read_list,
    seal,
    still_cold,
    unseal,
    was_loaded,
)
from thresher.objects.base import Objects
from thresher.records import Merge

READ_AT_ONCE = 500
"""Number of commands in one pipeline."""
RECENT_BYTES = 32 << 20
"""Size of the runs that stay in memory after they were read."""


class ColdStorageFailed(StoreError):
    """The cold storage does not answer, refuses access or has no space left."""


@dataclass(frozen=True, slots=True)
class Partition:
    """What is read of a partition: its runs, their URLs, the hosts of these, and the new scores that were applied.

    Args:
        damaged: Runs that cannot be read, and why; their URLs are not among the rows.
    """

    runs: list[ColdRun]
    damaged: Mapping[ColdRun, str]
    rows: Rows
    hosts: dict[bytes, HostRecord]
    new_scores: dict[bytes, bytes]


class ColdTier:
    """Reads and writes the runs of a crawl.

    Args:
        objects: The cold storage.
        crawl: Name of the crawl. Its objects are stored under this name and its id: another store may have a crawl of
            the same name.
        merge: How copies of a URL are merged.
    """

    def __init__(self, connection: RedisConnection, objects: Objects, crawl: str, merge: Merge) -> None:
        self.connection = connection
        self.partitions = 1
        self._objects = objects
        self._crawl, self._merge = crawl, merge
        self._id = ""
        self._recent: dict[str, bytes] = {}
        self._recent_lock = threading.Lock()
        self._runs_written = 0

    # Objects

    async def write_run(self, shard: int, migrator: int, rows: Rows) -> tuple[ColdRun, bytes]:
        """Write a run under a name that no object has; return it with its Bloom filter."""
        await self._learn_id()
        return await asyncio.to_thread(self._write_run, shard, migrator, rows)

    def _write_run(self, shard: int, migrator: int, rows: Rows) -> tuple[ColdRun, bytes]:
        content = rows.to_parquet()
        while True:
            self._runs_written += 1
            run = ColdRun.new(migrator, self._runs_written, len(rows))
            name = self.object_name(shard, run)
            with _failures():
                if self._objects.put_new(name, seal(content, name)):
                    return run, rows.bloom_filter(run.bits)

    async def delete_run(self, shard: int, run: ColdRun) -> None:
        await self._learn_id()
        with _failures():
            await asyncio.to_thread(self._objects.delete, self.object_name(shard, run))

    async def stored_runs(self, shard: int) -> list[ColdRun]:
        """Return all runs of a shard that this store wrote; those of version 0.2.0 may be of another store."""
        await self._learn_id()
        with _failures():
            objects = await asyncio.to_thread(self._objects.sizes, f"{self._crawl}.{self._id}/{shard}")
        return [ColdRun(name, 0) for each in objects if (name := self.run_name(each)) is not None]

    async def read_again(self, shard: int, run: ColdRun) -> Rows | None:
        """Return the URLs of a run that was damaged; None while it is."""
        await self._learn_id()
        parts, _ = await asyncio.to_thread(self._read_runs, shard, [run], None)
        return parts[0] if parts else None

    async def _learn_id(self) -> None:
        """Read the id of the crawl in the store; a crawl that was never identified gets one."""
        if not self._id:
            self._id = await keep_id(self.connection, self._crawl, secrets.token_hex(8))

    def object_name(self, shard: int, run: ColdRun) -> str:
        crawl = f"{self._crawl}.{self._id}" if run.is_sealed else self._crawl
        return f"{crawl}/{shard}/{run.name.hex()}.parquet"

    def run_name(self, object_name: str) -> bytes | None:
        """Return the run of an object; None for another object."""
        try:
            name = bytes.fromhex(object_name.rpartition("/")[2].removesuffix(".parquet"))
        except ValueError:
            return None
        return name if len(name) == 8 else None

    def partition_of(self, host: bytes) -> int:
        digest = hashlib.sha1(host, usedforsecurity=False).hexdigest()
        return int(digest[:8], 16) % self.partitions

    # Cold URLs

    async def hosts(self, prefix: bytes, names: Sequence[bytes]) -> dict[bytes, HostRecord]:
        """Return the records of hosts, without unknown ones."""
        found: dict[bytes, HostRecord] = {}
        for start in range(0, len(names), READ_AT_ONCE):
            part = names[start : start + READ_AT_ONCE]
            kept = await self.connection.call_all([("HGET", prefix + b"q" + name, b"") for name in part])
            found |= {name: HostRecord.read(content) for name, content in zip(part, kept, strict=True) if content}
        return found

    async def runs(self, prefix: bytes, partition: int) -> list[ColdRun]:
        return read_list(await self.connection.call("HGET", prefix + b"R", partition))

    async def read(
        self,
        prefix: bytes,
        shard: int,
        partition: int,
        hosts: Collection[bytes] | None = None,
        *,
        keys: Collection[int] | None = None,
        first: int = 0,
    ) -> Partition:
        """Read the cold URLs of a partition, loaded ones included, sorted by host, the best first.

        Args:
            hosts: Read only the URLs of these.
            keys: Read only the URLs with these keys.
            first: Read only the runs from this number on; then no new scores are applied.
        """
        runs = await self.runs(prefix, partition)
        if runs:
            await self._learn_id()
        wanted = None if hosts is None else set(hosts)
        parts, damaged = await asyncio.to_thread(self._read_runs, shard, runs[first:], wanted)
        names = {name for part in parts for name in part.by_host()} if hosts is None else hosts
        known = await self.hosts(prefix, list(names))
        new_scores: dict[bytes, bytes] = {}
        if first == 0:  # after the hosts: a score that raises it in between shows as another one
            new_scores = await self._new_scores(prefix, partition, keys)
        rows = await asyncio.to_thread(self._merged, parts, known, new_scores, keys)
        return Partition(runs, damaged, rows, known, new_scores)

    async def _new_scores(self, prefix: bytes, partition: int, keys: Collection[int] | None) -> dict[bytes, bytes]:
        name = prefix + b"o%d" % partition
        if keys is None:
            return dict(await self.connection.call("HGETALL", name))
        fields = [key_bytes(key) for key in keys]
        values = await self.connection.call("HMGET", name, *fields)
        return {field: value for field, value in zip(fields, values, strict=True) if value}

    def _merged(
        self,
        parts: Sequence[Rows],
        hosts: dict[bytes, HostRecord],
        new_scores: dict[bytes, bytes],
        keys: Collection[int] | None,
    ) -> Rows:
        if keys is not None:
            wanted = np.fromiter(keys, dtype=np.uint64)
            parts = [part.take(np.isin(part.keys, wanted)) for part in parts]
        scores: dict[int, list[NewScore]] = {}
        if new_scores and parts:
            fields = np.frombuffer(b"".join(new_scores), dtype=">u8").astype(np.uint64)
            there = np.isin(fields, np.concatenate([part.keys for part in parts]))
            values = list(new_scores.values())
            scores = {int(fields[n]): NewScore.read_all(values[n]) for n in np.flatnonzero(there)}
        return merge_rows(parts, self._merge, scores, hosts)

    def _read_runs(
        self, shard: int, runs: Sequence[ColdRun], hosts: set[bytes] | None
    ) -> tuple[list[Rows], dict[ColdRun, str]]:
        parts: list[Rows] = []
        damaged: dict[ColdRun, str] = {}
        for run in runs:
            try:
                parts.append(Rows.read(self._content(shard, run), hosts))
            except RunDamaged as error:
                damaged[run] = f"{self.object_name(shard, run)}: {error}"
        return parts, damaged

    def _content(self, shard: int, run: ColdRun) -> bytes:
        """Return the file of a run, from memory if it was read a short time ago; runs never change."""
        name = self.object_name(shard, run)
        with self._recent_lock:
            content = self._recent.get(name)
        if content is None:
            try:
                with _failures():
                    content = self._objects.get(name)
            except ObjectMissing as error:
                raise RunDamaged("it is missing") from error
            content = unseal(content, name) if run.is_sealed else content
        with self._recent_lock:
            self._recent.pop(name, None)
            self._recent[name] = content
            while len(self._recent) > 1 and sum(map(len, self._recent.values())) > RECENT_BYTES:
                del self._recent[next(iter(self._recent))]
        return content

    async def urls_of(self, prefix: bytes, shard: int, name: bytes, host: HostRecord) -> list[ColdUrl]:
        """Return the cold URLs of a host, best first."""
        read = await self.read(prefix, shard, self.partition_of(name), [name])
        return still_cold(read.rows, read.hosts.get(name, host)).urls()

    async def find(
        self, prefix: bytes, shard: int, partition: int, hosts: Collection[bytes], keys: Collection[int]
    ) -> list[ColdUrl]:
        """Return the cold URLs among those with these keys, all of these hosts of one partition."""
        records = await self.hosts(prefix, sorted(hosts))
        with_cold = [name for name, record in records.items() if record.has_cold]
        if not with_cold:
            return []
        read = await self.read(prefix, shard, partition, with_cold, keys=keys)
        return [url for url in read.rows.urls() if not was_loaded(url, read.hosts.get(url.host))]

    async def states(
        self, prefix: bytes, host: HostRecord, urls: Sequence[ColdUrl], seen_keys: int
    ) -> NDArray[np.int8]:
        """Return of each cold URL of a host 1 if it only is cold, 0 if a newer copy is hot, -1 if it is obsolete."""
        states = np.ones(len(urls), dtype=np.int8)
        for start in range(0, len(urls), READ_AT_ONCE // 2):
            part = urls[start : start + READ_AT_ONCE // 2]
            names = [Name.within(url.host, url.rest) for url in part]
            commands: list[tuple[bytes | str, ...]] = []
            for name in names:
                chunk = chunk_of(host.chunks, name.number)
                commands.append(("HGET", prefix + b"q" + name.host + (b" %d" % chunk if chunk else b""), name.rest))
                commands.append(("SISMEMBER", prefix + b"s%d" % (name.number % seen_keys), name.member))
            answers = await self.connection.call_all(commands)
            for index, url in enumerate(part):
                hot, is_seen = answers[2 * index], answers[2 * index + 1]
                is_older = hot is not None and split_record(hot)[0] != url.age
                states[start + index] = -1 if is_seen or (hot is not None and not is_older) else int(hot is None)
        return states

    async def new_scores(self, prefix: bytes, partition: int) -> int:
        """Return how many new scores of cold URLs wait for the next merge of runs."""
        return int(await self.connection.call("HLEN", prefix + b"o%d" % partition))


@contextmanager
def _failures() -> Iterator[None]:
    """Tell failures of the cold storage from those of the store."""
    try:
        yield
    except (StoreUnreachable, StoreRefused, OSError) as error:
        raise ColdStorageFailed(str(error)) from error


def chunk_of(chunks: int, number: int) -> int:
    """Return the chunk of a URL in its host's queue, as `queue.lua` does."""
    if chunks == 1:
        return 0
    half = 1 << (chunks.bit_length() - 1)
    chunk = number % (2 * half)
    return chunk if chunk < chunks else chunk - half
