"""The frontiers that the contract runs against. A new backend adds its store here and nothing else."""

import atexit
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from itertools import count
from pathlib import Path

from testing.clock import Clock
from testing.servers import cluster_servers, store_server
from thresher.frontier.base import CrawlStore
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.sqlite.frontier import SqliteFrontier
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.objects.base import FolderObjects
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


class MemoryStore:
    """A memory frontier cannot be opened a second time, so it is handed back as it was left."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.clock = clock
        self.frontier: CrawlStore | None = None

    def open(self, **settings) -> CrawlStore:
        self.frontier = self.frontier or MemoryFrontier(clock=self.clock, **settings)
        return self.frontier


class SqliteStore:
    """Without waiting for the disk: only the loss of power would tell the difference."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / "frontier.db"
        self.clock = clock

    def open(self, **settings) -> CrawlStore:
        return SqliteFrontier(self.path, clock=self.clock, synchronous="OFF", **settings)


class RedisStore:
    """A crawl of its own on a server that all tests share; `chunk_size`: waiting URLs of a host in one key."""

    names = count(1)

    def __init__(self, folder: Path, clock: Clock, *, kind: str = "redis", chunk_size: int = 128) -> None:
        self.url = server_url(kind)
        self.crawl = f"c{next(self.names)}"
        self.clock = clock
        self.chunk_size = chunk_size

    def open(self, **settings) -> CrawlStore:
        return RedisFrontier(self.url, self.crawl, clock=self.clock, chunk_size=self.chunk_size, **settings)


class TieredStore(RedisStore):
    """All but the best URL of a host are cold before a call returns; with a greater `least_hot`, a few more are hot."""

    def __init__(self, folder: Path, clock: Clock, *, kind: str = "redis", least_hot: int = 1) -> None:
        super().__init__(folder, clock, kind=kind)
        self.least_hot = least_hot
        self.objects = FolderObjects(folder / "cold", durable=False)

    def open(self, **settings) -> CrawlStore:
        return TieredFrontier(
            self.url,
            self.crawl,
            clock=self.clock,
            objects=self.objects,
            hot_urls=1,
            least_hot=self.least_hot,
            background=False,
            **settings,
        )


@cache
def server_url(kind: str) -> str:
    """Start a server for as long as the tests run; of the kind "cluster", three of them."""
    servers = ExitStack()
    atexit.register(servers.close)
    folder = Path(servers.enter_context(tempfile.TemporaryDirectory(prefix="frontier-store-")))
    started = cluster_servers(folder) if kind == "cluster" else store_server(kind, folder)
    return servers.enter_context(started).url


STORES: dict[str, Callable[[Path, Clock], MemoryStore | SqliteStore | RedisStore]] = {
    "memory": MemoryStore,
    "sqlite": SqliteStore,
    "redis": RedisStore,
    "redis in chunks": partial(RedisStore, chunk_size=2),
    "valkey": partial(RedisStore, kind="valkey"),
    "cluster": partial(RedisStore, kind="cluster"),
    "tiered": TieredStore,
    "tiered valkey": partial(TieredStore, kind="valkey"),
    "tiered cluster": partial(TieredStore, kind="cluster"),
}
