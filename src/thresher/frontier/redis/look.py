"""A frontier in a shared store as one who only looks sees it."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.frontier.base import Counts, FailureCount, HostEntry, UrlEntry
from thresher.frontier.redis.frontier import RedisFrontier
from thresher.frontier.sample import Sample


class RedisLook:
    """Asks a frontier only what changes nothing."""

    def __init__(self, frontier: RedisFrontier) -> None:
        self._frontier = frontier

    async def counts(self) -> Counts:
        """Return the frontier in numbers."""
        return await self._frontier.counts()

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        """List hosts, those with most pages first; only parked ones when asked."""
        return await self._frontier.hosts(limit, parked=parked)

    async def peek(self, limit: int) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts."""
        return await self._frontier.peek(limit)

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands."""
        return await self._frontier.find(url)

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key."""
        return await self._frontier.find_host(host)

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts."""
        return await self._frontier.failures()

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what was remembered about a host."""
        return await self._frontier.recall(host, kind)

    async def recall_all(self, notes: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return several notes, by host and kind."""
        return await self._frontier.recall_all(notes)

    async def sample(self, limit: int) -> Sample:
        """Return the scores of waiting URLs, about so many of them."""
        return await self._frontier.sample(limit)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._frontier.close()
