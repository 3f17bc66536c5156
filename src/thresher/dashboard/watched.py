"""One crawl that is looked at: what is opened once for all who look."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any, cast

from thresher.build import Crawl
from thresher.dashboard.fresh import Fresh
from thresher.dashboard.ledger import NO_PAGES, Pages
from thresher.dashboard.reader import Reader
from thresher.engine.progress import Pace
from thresher.fleet.links import HELLO_SECONDS
from thresher.fleet.orders import OrderBook, Orders
from thresher.fleet.roster import Roster, Worker
from thresher.frontier.base import Frontier
from thresher.frontier.look import Look
from thresher.labels import Label

PAGES_SECONDS = 1.0
PATIENCE_SECONDS = 0.05
"""So long a view waits for the newest pages; then it shows those that it knows."""


class WatchedCrawl:
    """A crawl and what is open of it.

    Args:
        crawl: The crawl.
        name: Its name in the dashboard.
    """

    def __init__(self, crawl: Crawl, name: str) -> None:
        self.crawl = crawl
        self.name = name
        self.is_startable = not crawl.folder.joined.is_file()
        """Whether a run may be started from here: not where a folder works for a crawl of another machine."""
        self.fresh = Fresh()
        self.pace = Pace()
        self.look: Look = crawl.look()
        self.reader = Reader(crawl.folder.pages)
        self._counter = Reader(crawl.folder.pages)
        self._pages = NO_PAGES
        self._pages_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._book = crawl.labels()
        self._labels: list[Label] = []
        self._labels_read = 0
        self._reading_labels = asyncio.Lock()
        self._link = crawl.link(patience_seconds=HELLO_SECONDS) if crawl.is_shared else None

    @property
    def frontier(self) -> Frontier:
        """The frontier for those who only recall what was told through it."""
        return cast("Frontier", self.look)

    async def pages(self) -> Pages:
        """Return what is known of every page; waits only when nothing is known yet."""
        if self._reading is None and time.monotonic() - self._pages_at > PAGES_SECONDS:
            self._reading = asyncio.ensure_future(self._read_pages())
        if (reading := self._reading) is not None:
            timeout = None if self._pages_at == float("-inf") else PATIENCE_SECONDS
            await asyncio.wait([reading], timeout=timeout)
            if reading.done():
                self._reading = None if self._reading is reading else self._reading
                reading.result()
        return self._pages

    async def _read_pages(self) -> None:
        self._pages = await self._counter.pages()
        self._pages_at = time.monotonic()

    async def labels(self) -> list[Label]:
        """Return what people said of pages, in their order."""
        async with self._reading_labels:
            new, self._labels_read = await self._book.read(self._labels_read)
            self._labels += new
        return self._labels

    async def workers(self) -> list[Worker]:
        """Return who works for a crawl that several machines share; nobody for others."""
        return await Roster(self._link, self.crawl.name).workers() if self._link else []

    async def orders(self) -> Orders:
        """Return what holds for all machines of a crawl that several share."""
        return await OrderBook(self._link, self.crawl.name).read() if self._link else Orders()

    async def close(self) -> None:
        """Let go of everything."""
        if self._reading is not None:
            await asyncio.wait([self._reading])
        with suppress(Exception):
            await self._book.close()
        for part in filter(None, (self.look, self.reader, self._counter, self._link)):
            await cast("Any", part).close()
