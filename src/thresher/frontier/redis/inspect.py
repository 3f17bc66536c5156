"""Read-only access to a frontier in a shared store."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.frontier.base import Counts, FailureCount, HostEntry, UrlEntry
from thresher.frontier.inspect import ScoreSample
from thresher.frontier.redis.frontier import RedisFrontier


class RedisFrontierReader:
    """Passes on those calls of a frontier that change nothing."""

    def __init__(self, frontier: RedisFrontier) -> None:
        self._frontier = frontier

    async def counts(self) -> Counts:
        return await self._frontier.counts()

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        return await self._frontier.hosts(limit, parked=parked)

    async def peek(self, limit: int) -> list[UrlEntry]:
        return await self._frontier.peek(limit)

    async def find(self, url: str) -> UrlEntry | None:
        return await self._frontier.find(url)

    async def find_host(self, host: str) -> HostEntry | None:
        return await self._frontier.find_host(host)

    async def failures(self) -> list[FailureCount]:
        return await self._frontier.failures()

    async def get_state(self, host: str, kind: str) -> str | None:
        return await self._frontier.get_state(host, kind)

    async def get_states(self, keys: Sequence[tuple[str, str]]) -> list[str | None]:
        return await self._frontier.get_states(keys)

    async def sample(self, limit: int) -> ScoreSample:
        return await self._frontier.sample(limit)

    async def close(self) -> None:
        await self._frontier.close()
