"""What people said of pages, in the store: one list for all machines of a crawl."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.fleet.keys import Link, key_of
from thresher.labels import Label, read_all


class StoreLabels:
    """The labels of a crawl in a store. A label that is said twice, because the store fell silent, does no harm."""

    def __init__(self, link: Link, crawl: str) -> None:
        self._link = link
        self._key = key_of(crawl, "labels")

    async def say(self, labels: Sequence[Label]) -> int:
        """Add labels."""
        lines = [label.written() for label in labels]
        return int(
            await self._link.call("RPUSH", self._key, *lines) if lines else await self._link.call("LLEN", self._key)
        )

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        """Return what was said after the first `since` labels."""
        lines = await self._link.call("LRANGE", self._key, since, -1) or []
        return read_all(lines), since + len(lines)

    async def close(self) -> None:
        """Let the connection go."""
        await self._link.close()
