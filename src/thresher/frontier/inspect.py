"""Read-only access to a frontier: queries that change nothing and do not scan all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thresher.frontier.base import Counts, FailureCount, HostEntry, UrlEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreSample:
    """Scores of waiting URLs.

    Args:
        scores: Pairs of a score and the number of URLs that it represents.
        whole: Whether every waiting URL is included.
    """

    scores: Sequence[tuple[float, float]] = ()
    whole: bool = True


class FrontierReader(Protocol):
    """A read-only frontier; methods without a docstring are those of `Frontier`."""

    async def counts(self) -> Counts: ...

    async def hosts(self, limit: int = 100, *, parked: bool = False) -> list[HostEntry]:
        """List hosts, those with most pages first; with `parked`, only parked ones."""
        ...

    async def peek(self, limit: int) -> list[UrlEntry]: ...

    async def find(self, url: str) -> UrlEntry | None: ...

    async def find_host(self, host: str) -> HostEntry | None: ...

    async def failures(self) -> list[FailureCount]: ...

    async def get_state(self, host: str, kind: str) -> str | None: ...

    async def get_states(self, keys: Sequence[tuple[str, str]]) -> list[str | None]:
        """Return several values of the shared state, given by host and kind."""
        ...

    async def sample(self, limit: int) -> ScoreSample:
        """Return the scores of about `limit` waiting URLs at most."""
        ...

    async def close(self) -> None: ...
