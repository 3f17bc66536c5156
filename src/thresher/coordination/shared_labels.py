"""Labels in the store: one list for all machines of a crawl."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.coordination.keys import StoreConnection, key_of
from thresher.feedback.labels import Label, read_all


class SharedLabelStore:
    """The labels of a crawl in a store. A label that is appended twice, after a timeout, does no harm."""

    def __init__(self, connection: StoreConnection, crawl: str) -> None:
        self._connection = connection
        self._key = key_of(crawl, "labels")

    async def append(self, labels: Sequence[Label]) -> int:
        lines = [label.written() for label in labels]
        command = ("RPUSH", self._key, *lines) if lines else ("LLEN", self._key)
        return int(await self._connection.call(*command))

    async def read(self, since: int = 0) -> tuple[list[Label], int]:
        lines = await self._connection.call("LRANGE", self._key, since, -1) or []
        return read_all(lines), since + len(lines)

    async def close(self) -> None:
        await self._connection.close()
