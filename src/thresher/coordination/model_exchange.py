"""The state of models in the store: how workers on many machines save it, and learn from each other's.

Learners write and read without blocking, in the middle of a page, so a separate thread talks to the store. It writes
what was queued, and polls every few seconds for new entries of other workers. Only the first read of a kind blocks: a
learner does it when it starts. While the store is away, the newest entry stays queued.

The store has one entry per worker and kind, and one index with the digest of each entry. An entry is written before its
digest, so a reader that follows the index finds at least that version. All commands are idempotent.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from thresher.coordination.keys import StoreConnection, key_of, pairs_of
from thresher.judges.base import StateStore
from thresher.modelstate.folder import FolderStateStore

logger = logging.getLogger(__name__)

MAX_BYTES = 64 << 20
POLL_SECONDS = 5.0
CLOSE_SECONDS = 10.0
T = TypeVar("T")


@dataclass(frozen=True, order=True)
class EntryDigest:
    """Size and digest of an entry."""

    size: int
    digest: str


class SharedStateTable:
    """The state of one part, a judge or a strategy, of all workers."""

    def __init__(self, connection: StoreConnection, crawl: str, part: str) -> None:
        self._connection = connection
        self._index = key_of(crawl, "learned", part)

    async def write(self, worker: str, kind: str, content: bytes) -> None:
        await self._connection.call("SET", self._entry(worker, kind), content)
        digest = hashlib.sha256(content).hexdigest()[:16]
        await self._connection.call("HSET", self._index, f"{worker} {kind}", f"{len(content)} {digest}")

    async def read(self, worker: str, kind: str) -> bytes | None:
        """Return an entry; None when there is none, or it is too large."""
        content = await self._connection.call("GETRANGE", self._entry(worker, kind), 0, MAX_BYTES)
        return content if isinstance(content, bytes) and 0 < len(content) <= MAX_BYTES else None

    async def digests(self, kind: str) -> dict[str, EntryDigest]:
        """Return the digests of the entries of a kind, by worker."""
        index = pairs_of(await self._connection.call("HGETALL", self._index))
        digests: dict[str, EntryDigest] = {}
        for name, digest in index.items():
            worker, _, of_kind = name.partition(" ")
            size, _, digest = digest.partition(" ")
            if of_kind == kind and size.isdecimal():
                digests[worker] = EntryDigest(int(size), digest)
        return digests

    async def kinds(self, worker: str) -> list[str]:
        """Return the kinds of entries that a worker has written."""
        index = pairs_of(await self._connection.call("HGETALL", self._index))
        names = (name.partition(" ") for name in index)
        return sorted(kind for owner, _, kind in names if owner == worker)

    def _entry(self, worker: str, kind: str) -> str:
        return f"{self._index}:{worker}:{kind}"


async def worker_entries(connection: StoreConnection, crawl: str, workers: Sequence[str]) -> dict[str, bytes]:
    """Return what some workers learned, by part, worker and kind."""
    found: dict[str, bytes] = {}
    for part in ("judge", "strategy"):
        table = SharedStateTable(connection, crawl, part)
        for worker in workers:
            for kind in await table.kinds(worker):
                if content := await table.read(worker, kind):
                    found[f"{part}/{worker}/{kind}"] = content
    return found


class StateStores(Protocol):
    """The state stores of one worker, one for each part that learns."""

    def of(self, part: str) -> StateStore:
        """Return the state store of a part."""
        ...

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Flush what was written; return whether that succeeded in time."""
        ...


class FolderStateStores:
    """State stores in a folder of this machine; writes are on disk when they return."""

    def __init__(self, folder: Path, worker: str = "") -> None:
        self._folder = folder
        self._worker = worker

    def of(self, part: str) -> StateStore:
        return FolderStateStore(self._folder / part, self._worker)

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        return True


class SharedStateStores:
    """State stores in a shared store, and the thread that talks to it.

    Args:
        connection: Used by the thread only.
        worker: Owner of the entries; without a name nothing is written.
        poll_seconds: Time between two polls of the entries of others.
    """

    def __init__(
        self, connection: StoreConnection, crawl: str, worker: str = "", *, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._connection = connection
        self._crawl = crawl
        self._worker = worker
        self._poll_seconds = poll_seconds
        self._stores: dict[str, SharedStateStore] = {}
        self._is_closing = False
        self._is_ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-state", daemon=True)
        self._thread.start()
        self._is_ready.wait()

    def of(self, part: str) -> SharedStateStore:
        if part not in self._stores:
            table = SharedStateTable(self._connection, self._crawl, part)
            self._stores[part] = SharedStateStore(table, self._worker, call=self._call, on_write=self._wake_up)
        return self._stores[part]

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        self._is_closing = True
        self._wake_up()
        self._thread.join(seconds)
        if not self._thread.is_alive():
            return True
        logger.warning("the latest model state did not reach the store in time")
        with suppress(RuntimeError):  # the loop has just closed
            self._loop.call_soon_threadsafe(self._task.cancel)
        return False

    def _call(self, operation: Coroutine[Any, Any, T]) -> T:
        """Run a store operation in the thread, and wait for its result."""
        return asyncio.run_coroutine_threadsafe(operation, self._loop).result()

    def _wake_up(self) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._wake.set)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._main())

    async def _main(self) -> None:
        self._task = asyncio.create_task(self._synchronize())
        await self._task

    async def _synchronize(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._is_ready.set()
        try:
            while not self._is_closing:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), self._poll_seconds)
                self._wake.clear()
                await self._each(lambda store: store.flush())
                if not self._is_closing:
                    await self._each(lambda store: store.poll())
            await self._each(lambda store: store.flush())
        finally:
            await self._connection.close()

    async def _each(self, do: Callable[[SharedStateStore], Coroutine[Any, Any, None]]) -> None:
        for store in list(self._stores.values()):
            try:
                await do(store)
            except Exception:  # retried in the next round
                logger.exception("model state cannot be exchanged with the store")


class SharedStateStore:
    """The state of one worker and part.

    Args:
        call: Runs a store operation in the thread that talks to the store, and waits.
        on_write: Called when there is something to flush.
    """

    write_seconds = POLL_SECONDS  # nobody reads more often

    def __init__(
        self,
        table: SharedStateTable,
        worker: str,
        *,
        call: Callable[[Coroutine[Any, Any, Any]], Any],
        on_write: Callable[[], None],
    ) -> None:
        self._table = table
        self._worker = worker
        self._call = call
        self._on_write = on_write
        self._lock = threading.Lock()
        self._unwritten: dict[str, bytes] = {}
        self._news: dict[str, dict[str, bytes]] = {}
        self._seen: dict[tuple[str, str], EntryDigest] = {}

    def write(self, kind: str, content: bytes) -> None:
        """Queue a new version of this worker's entry of a kind."""
        if self._worker:
            with self._lock:
                self._unwritten[kind] = content
            self._on_write()

    def read(self, kind: str) -> bytes | None:
        """Return this worker's entry of a kind; without a name, the largest entry of any worker."""
        with self._lock:
            if kind in self._unwritten:
                return self._unwritten[kind]
        content: bytes | None = self._call(self._entry(kind))
        return content

    def read_others(self, kind: str) -> Sequence[bytes]:
        """Return the entries of other workers that are new since the last call, as of the last poll."""
        if kind not in self._news:
            self._call(self._poll_kind(kind))
        with self._lock:
            news, self._news[kind] = self._news[kind], {}
        return [news[worker] for worker in sorted(news)]

    async def flush(self) -> None:
        """Write the queued entries to the store, including those that are queued meanwhile."""
        while self._unwritten:
            kind, content = next(iter(self._unwritten.items()))
            await self._table.write(self._worker, kind, content)
            with self._lock:
                if self._unwritten.get(kind) is content:
                    del self._unwritten[kind]

    async def poll(self) -> None:
        """Fetch new entries of other workers, of the kinds that were read before."""
        for kind in list(self._news):
            await self._poll_kind(kind)

    async def _poll_kind(self, kind: str) -> None:
        for worker, digest in (await self._table.digests(kind)).items():
            if worker == self._worker or self._seen.get((kind, worker)) == digest:
                continue
            content = await self._table.read(worker, kind)
            with self._lock:
                self._seen[kind, worker] = digest
                if content is not None:
                    self._news.setdefault(kind, {})[worker] = content
        self._news.setdefault(kind, {})

    async def _entry(self, kind: str) -> bytes | None:
        if self._worker:
            return await self._table.read(self._worker, kind)
        digests = await self._table.digests(kind)
        largest = max(digests, key=lambda worker: digests[worker], default=None)
        return await self._table.read(largest, kind) if largest else None
