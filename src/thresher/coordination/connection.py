"""Connections to the store that the machines of a crawl share, and the frontier in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore
from thresher.frontier.inspect import FrontierReader
from thresher.records import Merge

if TYPE_CHECKING:
    from thresher.frontier.redis.connection import RedisConnection

CONNECT_SECONDS = 10.0
"""How long a command that only reads waits for a store that does not answer."""


def connect_store(url: str, *, patience_seconds: float | None = None) -> RedisConnection:
    """Connect to a store that several machines can share; without a patience, commands wait for it forever.

    Raises:
        ConfigError: The address is invalid, or the client library is not installed.
    """
    try:
        from thresher.frontier.redis.connection import RedisConnection
    except ModuleNotFoundError as error:
        raise ConfigError(
            f'a shared store needs another package: pip install "thresher-crawler[redis]" ({error})'
        ) from error
    return RedisConnection(url, patience_seconds=patience_seconds)


def shared_frontier(
    connection: RedisConnection, crawl: str, *, crawl_id: str, merge: Merge, delay_seconds: float
) -> CrawlStore:
    """Return the frontier of a crawl in a store, which must hold the crawl of that id if it is not empty."""
    from thresher.frontier.redis.frontier import RedisFrontier

    return RedisFrontier(connection, crawl, crawl_id=crawl_id, merge=merge, delay_seconds=delay_seconds)


def shared_frontier_reader(
    connection: RedisConnection, crawl: str, *, crawl_id: str, delay_seconds: float
) -> FrontierReader:
    """Return a read-only view of the frontier of a crawl in a store."""
    from thresher.frontier.redis.frontier import RedisFrontier
    from thresher.frontier.redis.inspect import RedisFrontierReader

    return RedisFrontierReader(
        RedisFrontier(connection, crawl, crawl_id=crawl_id, merge=Merge.MAX, delay_seconds=delay_seconds)
    )
