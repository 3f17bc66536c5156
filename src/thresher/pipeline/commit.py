"""The last step of the pipeline: pages are written to disk, then their leases are settled, in batches.

While one batch is being written, finished pages are collected for the next; so a busy worker settles many pages per
transaction, and an idle one settles each immediately.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from thresher.frontier.base import Frontier
from thresher.records import FetchedPage, Settlement
from thresher.storage.page_store import Archive, PageRecord
from thresher.storage.warc.base import Captures


@dataclass(frozen=True, slots=True)
class _Waiting:
    record: PageRecord
    settlement: Settlement
    response: FetchedPage | None
    accepted: asyncio.Future[bool]


class BatchCommitter:
    """Writes WARC records, stores pages and settles leases, in this order: a crash repeats a page and loses none.

    Args:
        before_commit: Called with the settlements of a batch, after its pages are stored and before it is settled.
    """

    def __init__(
        self,
        frontier: Frontier,
        archive: Archive,
        captures: Captures | None = None,
        before_commit: Callable[[Sequence[Settlement]], Awaitable[None]] | None = None,
    ) -> None:
        self._frontier = frontier
        self._before_commit = before_commit
        self._archive = archive
        self._captures = captures
        self._pending: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    async def settle(self, record: PageRecord, settlement: Settlement, response: FetchedPage | None = None) -> bool:
        """Store one page and settle its lease; False when the lease was no longer held."""
        waiting = _Waiting(record, settlement, response, asyncio.get_running_loop().create_future())
        self._pending.append(waiting)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await waiting.accepted

    async def _write(self) -> None:
        try:
            while self._pending:
                batch, self._pending = self._pending, []
                await self._write_batch(batch)
        finally:
            self._writing = None

    async def _write_batch(self, batch: list[_Waiting]) -> None:
        try:
            if self._captures:
                await self._captures.append(
                    [(waiting.record, waiting.response) for waiting in batch if waiting.response]
                )
            await self._archive.append([waiting.record for waiting in batch])
            settlements = [waiting.settlement for waiting in batch]
            if self._before_commit:
                await self._before_commit(settlements)
            accepted = await self._frontier.commit(settlements)
        except Exception as error:  # passed to every caller that waits for a page of this batch
            for waiting in batch:
                if not waiting.accepted.done():
                    waiting.accepted.set_exception(error)
            return
        for waiting, was_held in zip(batch, accepted, strict=True):
            if not waiting.accepted.done():
                waiting.accepted.set_result(was_held)
