"""The store that the machines of a crawl share: how it is reached, and the queue in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.errors import ConfigError
from thresher.frontier.base import Frontier
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


def shared_frontier(link: StoreLink, crawl: str, *, merge: Merge, delay_seconds: float) -> Frontier:
    """Return the queue of a crawl in a store."""
    from thresher.frontier.redis.frontier import RedisFrontier

    return RedisFrontier(link, crawl, merge=merge, delay_seconds=delay_seconds)
