"""The last step of the line: pages reach the disk, then their leases are settled, several at a time.

While one batch is being written, the pages that finish meanwhile gather into the next; so a busy worker settles many
pages per transaction, and an idle one settles each at once.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from thresher.archive.captures import Captures
from thresher.archive.pages import Archive, PageRecord
from thresher.frontier.base import Frontier
from thresher.records import FetchedPage, Settlement


@dataclass(frozen=True, slots=True)
class _Waiting:
    record: PageRecord
    settlement: Settlement
    answer: FetchedPage | None
    accepted: asyncio.Future[bool]


class Settler:
    """Archives answers, keeps pages, settles leases, in this order, so that a crash repeats a page and loses none."""

    def __init__(self, frontier: Frontier, archive: Archive, captures: Captures | None = None) -> None:
        self._frontier = frontier
        self._archive = archive
        self._captures = captures
        self._gathered: list[_Waiting] = []
        self._writing: asyncio.Task[None] | None = None

    async def settle(self, record: PageRecord, settlement: Settlement, answer: FetchedPage | None = None) -> bool:
        """Keep one page and settle its lease; False when the lease was no longer ours."""
        waiting = _Waiting(record, settlement, answer, asyncio.get_running_loop().create_future())
        self._gathered.append(waiting)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await waiting.accepted

    async def _write(self) -> None:
        try:
            while self._gathered:
                batch, self._gathered = self._gathered, []
                await self._write_batch(batch)
        finally:
            self._writing = None

    async def _write_batch(self, batch: list[_Waiting]) -> None:
        try:
            if self._captures:
                await self._captures.keep([(waiting.record, waiting.answer) for waiting in batch if waiting.answer])
            await self._archive.keep([waiting.record for waiting in batch])
            accepted = await self._frontier.commit([waiting.settlement for waiting in batch])
        except Exception as error:  # whoever waits for a page of this batch is told
            for waiting in batch:
                if not waiting.accepted.done():
                    waiting.accepted.set_exception(error)
            return
        for waiting, was_held in zip(batch, accepted, strict=True):
            if not waiting.accepted.done():
                waiting.accepted.set_result(was_held)
