"""Where a crawl keeps its frontier, labels and models, and who works on it: one machine, or a cluster with a store.

`open_backend` chooses once, by the store of the crawl. Callers ask the backend for what they need, not which one it is.
"""

from __future__ import annotations

import os
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from thresher.config.folder import CrawlFolder
from thresher.config.run_options import RunOptions
from thresher.config.schema import CrawlConfig
from thresher.coordination.cluster_view import ClusterView, SharedCluster, SingleMachine
from thresher.coordination.connection import CONNECT_SECONDS, connect_store, shared_frontier, shared_frontier_reader
from thresher.coordination.heartbeat import HeartbeatTask
from thresher.coordination.local_workers import LocalWorker, publish_workers
from thresher.coordination.model_exchange import FolderStateStores, SharedStateStores, StateStores, worker_entries
from thresher.coordination.pending_uploads import PageOwner, PendingUploads, UploadedPages
from thresher.coordination.run_view import LocalRun, RunView, SharedRun
from thresher.coordination.shared_labels import SharedLabelStore
from thresher.coordination.stop_orders import BY_USER, StopOrders
from thresher.coordination.store_binding import STORE_VARIABLE, StoreRecord
from thresher.coordination.worker_names import machine_id, machine_name, worker_names
from thresher.errors import ThresherError
from thresher.feedback.labels import FolderLabelStore, LabelStore
from thresher.frontier.base import Closable, CrawlStore, SharedState, async_closing
from thresher.frontier.inspect import FrontierReader
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.frontier.sqlite.inspect import SqliteFrontierReader
from thresher.locale.translation import _
from thresher.objects.base import Objects, open_objects
from thresher.records import Merge, Settlement
from thresher.refresh.queue import RefreshFrontier, queue_path
from thresher.storage.page_store import COLLECTED, UPLOADED_TO
from thresher.urls.store_address import SQLITE

if TYPE_CHECKING:
    from thresher.collection.replica import ReplicaUpdate
    from thresher.frontier.redis.connection import RedisConnection
    from thresher.search.index import SearchIndex

STORE_SECONDS = 5.0
"""How long a background task, such as an upload, waits for the store."""
MODEL_SECONDS = 30.0
"""Time after which models in a store count as changed."""

C = TypeVar("C", bound=Closable)
BeforeCommit = Callable[[Sequence[Settlement]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class BackendSettings:
    """What a backend is opened with.

    Args:
        merge: How the strategy combines the scores of a URL; called when the frontier is opened.
        waiting_per_host: Maximum number of waiting URLs of a host in the frontier of one machine.
    """

    name: str
    folder: CrawlFolder
    config: CrawlConfig
    options: RunOptions
    merge: Callable[[], Merge]
    waiting_per_host: int = 10_000


class CrawlBackend(ABC):
    """The resources of a crawl; the caller closes what it opens.

    Attributes:
        name: The name of the crawl, also in its store.
        has_other_machines: Whether other machines can work on the crawl, so that it may run without a process here.
        has_all_pages: Whether the folder of this machine has all pages.
        frontier_file: The database of the frontier; None when it is not a file of this machine.
        poll_seconds: Time between two looks of a supervisor at the store.
    """

    has_other_machines: bool
    has_all_pages: bool
    frontier_file: Path | None
    poll_seconds: float

    def __init__(self, settings: BackendSettings) -> None:
        self.name = settings.name
        self._folder = settings.folder
        self._config = settings.config
        self._options = settings.options
        self._merge = settings.merge
        self._delay_seconds = settings.config.politeness.delay_seconds

    @property
    def id(self) -> str:
        """The id of the crawl, as its folder records it; empty before its first run."""
        record = StoreRecord.read(self._folder)
        return record.id if record else ""

    @property
    def counted_pages(self) -> Path | None:
        """The folder with all pages of the crawl; None when other machines have some, or in a refresh."""
        return self._folder.pages if self.has_all_pages and not self._options.refresh else None

    def visits(self) -> CrawlStore:
        """Open the frontier of a refresh; finding a page again does not change the score of its visit."""
        queue = queue_path(self._folder.root)
        return SqliteFrontier(queue, merge=Merge.FIRST, delay_seconds=self._delay_seconds)

    @abstractmethod
    def frontier(self, *, crawl_id: str | None = None) -> CrawlStore:
        """Open the frontier.

        Args:
            crawl_id: The id that the store must hold, in place of the recorded one; empty for any.

        Raises:
            StoreLost: The store has lost the crawl; for a shared store, by the first call.
        """

    @abstractmethod
    def worker_frontier(self, worker: str = "") -> tuple[CrawlStore, BeforeCommit | None]:
        """Open the frontier of a worker, which waits for its store for ever; and what is called before each commit.

        Args:
            worker: Whose pages are listed until they are in the collection; empty when none are stored.
        """

    @abstractmethod
    def frontier_reader(self) -> FrontierReader:
        """Open the frontier for reading; the folder may be read-only."""

    @abstractmethod
    def labels(self, *, patience_seconds: float | None = CONNECT_SECONDS) -> LabelStore:
        """Open the labels; without a patience, it waits for its store for ever."""

    @abstractmethod
    def state_stores(self, worker: str = "") -> StateStores:
        """Open the state stores of a worker's learners, with those of other workers; without a name, read only."""

    @abstractmethod
    def state_place(self, part: str) -> str:
        """Return where the state of a part that learns is, for messages."""

    @abstractmethod
    def state_version(self, part: str) -> object:
        """Return a value that changes with the stored state of a part that learns."""

    @abstractmethod
    async def model_files(self) -> dict[str, bytes]:
        """Return what the workers of this machine learned, by name in the folder of a crawl on one machine."""

    @abstractmethod
    def run_view(self) -> RunView:
        """Open the view of the run and its workers."""

    @abstractmethod
    def worker_names(self, count: int, machine: str = "") -> list[str]:
        """Return the names of this machine's workers, which are unique over all machines."""

    @abstractmethod
    def machine_name(self, given: str = "") -> str:
        """Return the name of this machine; empty where there is only one."""

    @abstractmethod
    def heartbeat_task(self, worker: str) -> HeartbeatTask | None:
        """Return what sends the heartbeats of a worker; None where nobody looks for them."""

    @abstractmethod
    def cluster_view(self, *, owner: bool) -> ClusterView:
        """Open a supervisor's view of the other machines."""

    @abstractmethod
    async def publish_workers(self, frontier: SharedState, workers: Sequence[LocalWorker]) -> None:
        """Publish the worker processes of this machine, where they send no heartbeats."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """Return the environment variables with which another process opens the same crawl."""

    @abstractmethod
    def may_be_running(self) -> bool:
        """Return whether a run may be under way."""

    @abstractmethod
    async def stop_run(self) -> bool:
        """Let the workers of the run drain and leave, on all machines; return whether the end can be awaited here.

        Raises:
            ThresherError: No run is active on the only machine.
            StoreLost: The store no longer holds the crawl.
        """

    def objects(self) -> Objects:
        """Open the collection.

        Raises:
            ConfigError: It cannot be opened, or a package is not installed.
        """
        known = self._folder.pages / COLLECTED / UPLOADED_TO
        return open_objects(self._config.collection, used=known.read_text("utf-8") if known.is_file() else "")

    def update_pages(self, progress: Callable[[int], None] = lambda rows: None) -> ReplicaUpdate | None:
        """Copy to this folder what other machines have added to the collection; None without a collection.

        Raises:
            StoreUnreachable: The collection does not answer.
        """
        if not self._config.collection:
            return None
        from thresher.collection.replica import Replica

        return Replica(self._folder.pages).update(self.objects(), progress=progress)

    def update_search(self, index: SearchIndex) -> None:
        """Add search segments of the collection to an index, after `update_pages`; what they lack is indexed here."""
        if self._config.collection:
            from thresher.collection.replica import update_search

            update_search(self.objects(), self._folder.pages / COLLECTED, index)

    @abstractmethod
    def pending_uploads(self) -> PendingUploads | None:
        """Open the list of pages that wait for their upload; None where the rows of this machine say it."""

    @abstractmethod
    def uploaded_pages(self) -> Callable[[str, Sequence[int]], None]:
        """Return what takes the name of a worker, and fingerprints of its pages that were uploaded."""


class LocalBackend(CrawlBackend):
    """A crawl on one machine: everything is a file of its folder."""

    has_other_machines = False
    has_all_pages = True
    poll_seconds = 0.2

    def __init__(self, settings: BackendSettings) -> None:
        super().__init__(settings)
        self._waiting_per_host = settings.waiting_per_host
        self.frontier_file = self._folder.frontier

    def frontier(self, *, crawl_id: str | None = None) -> CrawlStore:
        home = SqliteFrontier(
            self._folder.frontier,
            merge=self._merge(),
            delay_seconds=self._delay_seconds,
            crawl_id=self.id if crawl_id is None else crawl_id,
            waiting_per_host=self._waiting_per_host,
        )
        return RefreshFrontier(self.visits(), home) if self._options.refresh else home

    def worker_frontier(self, worker: str = "") -> tuple[CrawlStore, BeforeCommit | None]:
        return self.frontier(), None

    def frontier_reader(self) -> FrontierReader:
        return SqliteFrontierReader(self._folder.frontier, delay_seconds=self._delay_seconds, crawl_id=self.id)

    def labels(self, *, patience_seconds: float | None = CONNECT_SECONDS) -> LabelStore:
        return FolderLabelStore(self._folder.labels)

    def state_stores(self, worker: str = "") -> StateStores:
        return FolderStateStores(self._folder.model, worker)

    def state_place(self, part: str) -> str:
        return str(self._folder.model / part)

    def state_version(self, part: str) -> object:
        files = sorted((self._folder.model / part).glob("**/*"))
        return [(file, file.stat().st_mtime_ns) for file in files if file.is_file()]

    async def model_files(self) -> dict[str, bytes]:
        paths = sorted(self._folder.model.rglob("*"))
        files = [path for path in paths if path.is_file() and not path.name.startswith(".")]
        return {path.relative_to(self._folder.root).as_posix(): path.read_bytes() for path in files}

    def run_view(self) -> RunView:
        return LocalRun(self._folder)

    def worker_names(self, count: int, machine: str = "") -> list[str]:
        return [f"w{number}" for number in range(1, count + 1)]

    def machine_name(self, given: str = "") -> str:
        return ""

    def heartbeat_task(self, worker: str) -> HeartbeatTask | None:
        return None

    def cluster_view(self, *, owner: bool) -> ClusterView:
        return SingleMachine()

    async def publish_workers(self, frontier: SharedState, workers: Sequence[LocalWorker]) -> None:
        await publish_workers(frontier, workers)

    def environment(self) -> dict[str, str]:
        return {}

    def may_be_running(self) -> bool:
        return bool(self._folder.runner())

    async def stop_run(self) -> bool:
        runner = self._folder.runner()
        if not runner:
            raise ThresherError(
                _("no run of {folder} is under way; there is nothing to stop", folder=self._folder.root)
            )
        os.kill(runner, signal.SIGTERM)
        return True

    def pending_uploads(self) -> PendingUploads | None:
        return None

    def uploaded_pages(self) -> Callable[[str, Sequence[int]], None]:
        return lambda worker, fingerprints: None


class ClusterBackend(CrawlBackend):
    """A crawl that several machines share: frontier, labels and models are in a store, pages on each machine."""

    has_other_machines = True
    has_all_pages = False
    frontier_file = None
    poll_seconds = 0.5

    def connection(self, *, patience_seconds: float | None = None) -> RedisConnection:
        """Return a connection to the store; without `patience_seconds` it retries for ever."""
        return connect_store(self._config.store, patience_seconds=patience_seconds)

    def frontier(self, *, crawl_id: str | None = None) -> CrawlStore:
        return self._frontier(self.connection(patience_seconds=CONNECT_SECONDS), crawl_id)

    def _frontier(self, connection: RedisConnection, crawl_id: str | None = None) -> CrawlStore:
        return shared_frontier(
            connection,
            self.name,
            self._config.frontier.with_cold_in(self._config.collection),
            crawl_id=self.id if crawl_id is None else crawl_id,
            merge=self._merge(),
            delay_seconds=self._delay_seconds,
        )

    def worker_frontier(self, worker: str = "") -> tuple[CrawlStore, BeforeCommit | None]:
        connection = self.connection()
        if not worker or not self._config.collection:
            return self._frontier(connection), None
        pending, owner = PendingUploads(connection, self.name), PageOwner(worker, machine_id(self._folder))
        return self._frontier(connection), lambda settlements: pending.add(owner, settlements)

    def frontier_reader(self) -> FrontierReader:
        connection = self.connection(patience_seconds=CONNECT_SECONDS)
        tiers = self._config.frontier.with_cold_in(self._config.collection)
        return shared_frontier_reader(connection, self.name, tiers, crawl_id=self.id, delay_seconds=self._delay_seconds)

    def labels(self, *, patience_seconds: float | None = CONNECT_SECONDS) -> LabelStore:
        return SharedLabelStore(self.connection(patience_seconds=patience_seconds), self.name)

    def state_stores(self, worker: str = "") -> StateStores:
        connection = self.connection(patience_seconds=None if worker else CONNECT_SECONDS)
        return SharedStateStores(connection, self.name, worker)

    def state_place(self, part: str) -> str:
        return f"the store of {self.name}"

    def state_version(self, part: str) -> object:
        return int(time.monotonic() / MODEL_SECONDS)

    async def model_files(self) -> dict[str, bytes]:
        connection = self.connection(patience_seconds=STORE_SECONDS)
        workers = [path.stem for path in self._folder.segments()]
        try:
            entries = await worker_entries(connection, self.name, workers)
        finally:
            await connection.close()
        return {f"{self._folder.model.name}/{name}": content for name, content in entries.items()}

    def run_view(self) -> RunView:
        return SharedRun(self.connection(patience_seconds=CONNECT_SECONDS), self.name, self._folder)

    def worker_names(self, count: int, machine: str = "") -> list[str]:
        return worker_names(self.machine_name(machine), count)

    def machine_name(self, given: str = "") -> str:
        return machine_name(self._folder, given)

    def heartbeat_task(self, worker: str) -> HeartbeatTask | None:
        connection = self.connection(patience_seconds=0.0)
        return HeartbeatTask(connection, self.name, worker, mark=machine_id(self._folder))

    def cluster_view(self, *, owner: bool) -> ClusterView:
        return SharedCluster(self._folder, self._config, self._options, owner=owner)

    async def publish_workers(self, frontier: SharedState, workers: Sequence[LocalWorker]) -> None:
        pass

    def environment(self) -> dict[str, str]:
        return {STORE_VARIABLE: self._config.store}

    def may_be_running(self) -> bool:
        return True

    async def stop_run(self) -> bool:
        async with async_closing(self.frontier()) as frontier:
            await frontier.counts()  # raises if the store has lost the crawl
        async with async_closing(self.connection(patience_seconds=CONNECT_SECONDS)) as connection:
            await StopOrders(connection, self.name).stop(BY_USER)
        return False

    def pending_uploads(self) -> PendingUploads | None:
        return PendingUploads(self.connection(patience_seconds=CONNECT_SECONDS), self.name)

    def uploaded_pages(self) -> Callable[[str, Sequence[int]], None]:
        def connect() -> RedisConnection:
            return self.connection(patience_seconds=STORE_SECONDS)

        return UploadedPages(connect, self.name, machine_id(self._folder)).remove


def open_backend(settings: BackendSettings) -> CrawlBackend:
    """Return the backend of a crawl, by its store."""
    return LocalBackend(settings) if settings.config.store == SQLITE else ClusterBackend(settings)


class CrawlResources:
    """The open resources of a crawl: each is opened by its first use, and all are closed together."""

    def __init__(self, backend: CrawlBackend) -> None:
        self._backend = backend
        self._open = AsyncExitStack()

    @cached_property
    def frontier(self) -> CrawlStore:
        return self._opened(self._backend.frontier())

    @cached_property
    def frontier_reader(self) -> FrontierReader:
        return self._opened(self._backend.frontier_reader())

    @cached_property
    def labels(self) -> LabelStore:
        return self._opened(self._backend.labels())

    @cached_property
    def run(self) -> RunView:
        return self._opened(self._backend.run_view())

    @cached_property
    def pending_uploads(self) -> PendingUploads | None:
        listed = self._backend.pending_uploads()
        return self._opened(listed) if listed else None

    def _opened(self, resource: C) -> C:
        self._open.push_async_callback(resource.close)
        return resource

    async def close(self) -> None:
        """Close what was opened, all of it even when one fails."""
        await self._open.aclose()
