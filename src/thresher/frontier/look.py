"""What one who only looks may ask of a frontier: nothing that changes it, and nothing that walks all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from thresher.frontier.base import Counts, FailureCount, HostEntry, UrlEntry
from thresher.frontier.sample import Sample


class Look(Protocol):
    """A frontier to look at."""

    async def counts(self) -> Counts:
        """Return the frontier in numbers."""
        ...

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        """List hosts, those with most pages first; only parked ones when asked."""
        ...

    async def peek(self, limit: int) -> list[UrlEntry]:
        """List the best waiting URLs over all hosts."""
        ...

    async def find(self, url: str) -> UrlEntry | None:
        """Say where a URL stands."""
        ...

    async def find_host(self, host: str) -> HostEntry | None:
        """Return one host by its key."""
        ...

    async def failures(self) -> list[FailureCount]:
        """Count failed URLs by host and reason, and the URLs that wait for parked hosts."""
        ...

    async def recall(self, host: str, kind: str) -> str | None:
        """Return what was remembered about a host."""
        ...

    async def recall_all(self, notes: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return several such notes, by host and kind."""
        ...

    async def sample(self, limit: int) -> Sample:
        """Return the scores of waiting URLs, about so many of them at most."""
        ...

    async def close(self) -> None:
        """Let go of files and connections."""
        ...
