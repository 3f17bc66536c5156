"""Connections to the store that the machines of a crawl share, and the frontier in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thresher.config.frontier import FrontierConfig
from thresher.errors import ConfigError
from thresher.frontier.base import CrawlStore
from thresher.frontier.inspect import FrontierReader
from thresher.locale.translation import _
from thresher.objects.base import open_objects
from thresher.records import Merge

if TYPE_CHECKING:
    from thresher.frontier.redis.connection import RedisConnection
    from thresher.frontier.redis.frontier import RedisFrontier

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
            _('a shared store needs another package: pip install "thresher-crawler[redis]" ({error})', error=error)
        ) from error
    return RedisConnection(url, patience_seconds=patience_seconds)


def shared_frontier(
    connection: RedisConnection, crawl: str, tiers: FrontierConfig, *, crawl_id: str, merge: Merge, delay_seconds: float
) -> CrawlStore:
    """Return the frontier of a crawl in a store, which must hold the crawl of that id if it is not empty."""
    return _open(connection, crawl, tiers, crawl_id=crawl_id, merge=merge, delay_seconds=delay_seconds)


def _open(connection: RedisConnection, crawl: str, tiers: FrontierConfig, **settings: Any) -> RedisFrontier:
    from thresher.frontier.redis.frontier import RedisFrontier

    if not tiers.cold:
        return RedisFrontier(connection, crawl, **settings)
    objects = open_objects(tiers.cold)  # says so if a package is not installed
    from thresher.frontier.tiered.frontier import TieredFrontier

    return TieredFrontier(connection, crawl, objects=objects, hot_urls=tiers.hot_urls, **settings)


def shared_frontier_reader(
    connection: RedisConnection, crawl: str, tiers: FrontierConfig, *, crawl_id: str, delay_seconds: float
) -> FrontierReader:
    """Return a read-only view of the frontier of a crawl in a store."""
    from thresher.frontier.redis.inspect import RedisFrontierReader

    return RedisFrontierReader(
        _open(connection, crawl, tiers, crawl_id=crawl_id, merge=Merge.MAX, delay_seconds=delay_seconds)
    )
