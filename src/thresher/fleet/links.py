"""The store that the machines of a crawl share: how it is reached, and the queue in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.errors import ConfigError
from thresher.frontier.base import Frontier
from thresher.frontier.look import Look
from thresher.records import Merge

if TYPE_CHECKING:
    from thresher.frontier.redis.link import StoreLink

HELLO_SECONDS = 10.0
"""How long a command that only looks waits for a store that does not answer."""


def store_link(url: str, *, patience_seconds: float | None = None) -> StoreLink:
    """Return a connection to a store that several machines can share; without a patience it waits for ever.

    Raises:
        ConfigError: There can be no such store, or what is needed to speak to it is not installed.
    """
    try:
        from thresher.frontier.redis.link import StoreLink
    except ModuleNotFoundError as error:
        raise ConfigError(f'a shared store needs another package: pip install "thresher[redis]" ({error})') from error
    return StoreLink(url, patience_seconds=patience_seconds)


def shared_frontier(link: StoreLink, crawl: str, *, crawl_id: str, merge: Merge, delay_seconds: float) -> Frontier:
    """Return the queue of a crawl in a store, which must hold the crawl of that id if it is not empty."""
    from thresher.frontier.redis.frontier import RedisFrontier

    return RedisFrontier(link, crawl, crawl_id=crawl_id, merge=merge, delay_seconds=delay_seconds)


def shared_look(link: StoreLink, crawl: str, *, crawl_id: str, delay_seconds: float) -> Look:
    """Return the queue of a crawl in a store for one who only reads."""
    from thresher.frontier.redis.frontier import RedisFrontier
    from thresher.frontier.redis.look import RedisLook

    return RedisLook(RedisFrontier(link, crawl, crawl_id=crawl_id, merge=Merge.MAX, delay_seconds=delay_seconds))
