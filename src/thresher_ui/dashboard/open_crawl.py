"""One crawl of a dashboard: connections, caches and readers that all requests share.

The page store is opened once, in a thread of its own, and again when segments are added or removed.

Explanations of URLs: the current judge of a crawl, loaded on demand in a thread of its own.

A cache with TTL for asynchronous results: concurrent requests for a key share one computation.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from thresher.backend import CrawlResources
from thresher.crawl import CrawlSetup
from thresher.errors import StoreError
from thresher.feedback.labels import Label
from thresher.judges.base import Judge
from thresher.locale.translation import _
from thresher.operations.explain import Explanation, FrontierInfo, explanation_of, judge_of
from thresher.runner.limits import Pace
from thresher.status import read_collection
from thresher.storage.page_store import segment_files
from thresher.storage.reader import PageStoreReader
from thresher_ui.dashboard.live_index import LiveIndex
from thresher_ui.dashboard.page_index import NO_PAGES, IndexedPages, PageIndex

if TYPE_CHECKING:
    from thresher.collection.status import CollectionStatus


MAX_ENTRIES = 256


class SharedCache:
    """A cache of at most `MAX_ENTRIES` results, the least recently used dropped first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._results: OrderedDict[Hashable, tuple[float, asyncio.Future[Any]]] = OrderedDict()

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[Any]], *, seconds: float) -> Any:
        """Return a result that is no older than `seconds`, counted from the start of its computation.

        A computation that failed is not cached.
        """
        began, result = self._results.get(key, (float("-inf"), None))
        is_usable = result is not None and not (result.done() and (result.cancelled() or result.exception()))
        if result is None or not is_usable or (result.done() and self._clock() - began > seconds):
            result = asyncio.ensure_future(compute())
            result.add_done_callback(_retrieve_exception)
            self._results[key] = self._clock(), result
            while len(self._results) > MAX_ENTRIES:
                self._results.popitem(last=False)
        self._results.move_to_end(key)
        return await asyncio.shield(result)  # a cancelled request must not cancel the others

    def clear(self) -> None:
        """Drop all results."""
        self._results.clear()


def _retrieve_exception(result: asyncio.Future[Any]) -> None:
    """Mark an exception as retrieved: all who waited for it may have been cancelled."""
    if not result.cancelled():
        result.exception()


class LoadedJudge:
    """The judge of a crawl, loaded again when its stored state has changed."""

    def __init__(self, crawl: CrawlSetup) -> None:
        self._crawl = crawl
        self._judge: Judge | None = None
        self._version: object = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")

    async def explain(self, url: str, frontier_info: FrontierInfo) -> Explanation:
        """Explain a canonical URL; without words when the judge cannot be loaded."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._explain, url, frontier_info)

    def close(self) -> None:
        self._thread.shutdown()

    def _explain(self, url: str, frontier_info: FrontierInfo) -> Explanation:
        with PageStoreReader(self._crawl.folder.pages) as collection:
            return explanation_of(self._crawl, url, frontier_info, collection, self._loaded())

    def _loaded(self) -> Judge | None:
        version = self._crawl.backend.state_version("judge")
        if self._judge is None or version != self._version:
            self._judge, self._version = judge_of(self._crawl), version
        return self._judge


logger = logging.getLogger(__name__)

T = TypeVar("T")


class Reader:
    """Reads the page store in a thread of its own, one query after another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []
        self._reader: PageStoreReader | None = None
        self._page_index = PageIndex()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages")

    async def ask(self, query: Callable[[PageStoreReader], T]) -> T:
        """Return the result of a query.

        Raises:
            StoreError: The page store cannot be read.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: query(self._opened()))
        except sqlite3.Error as error:
            raise StoreError(_("the pages cannot be read now: {error}; try again in a moment", error=error)) from error

    async def pages(self) -> IndexedPages:
        """Return the index of all pages."""
        return await self.ask(lambda reader: self._page_index.read(reader.segments))

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _opened(self) -> PageStoreReader:
        paths = segment_files(self._folder)
        if self._reader is None or paths != self._paths or len(self._reader.segments) != len(paths):
            self._close()
            self._reader, self._paths = PageStoreReader(self._folder), paths
        return self._reader

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


PAGES_SECONDS, COLLECTION_SECONDS = 1.0, 10.0
PAGES_TIMEOUT_SECONDS = 0.05
"""How long a view waits for the newest pages before it shows the last known ones."""


class OpenCrawl:
    """A crawl with its readers and caches.

    Args:
        name: The name of the crawl in the dashboard.
    """

    def __init__(self, crawl: CrawlSetup, name: str) -> None:
        self.crawl = crawl
        self.name = name
        self.is_startable = not crawl.folder.joined.is_file()
        """Whether a run may be started here: not in a folder that joined the crawl of another machine."""
        self.cache = SharedCache()
        self.pace = Pace()
        self.resources = CrawlResources(crawl.backend)
        self.frontier_reader = self.resources.frontier_reader
        self.reader = Reader(crawl.folder.pages)
        self.judge = LoadedJudge(crawl)
        self.search_index = LiveIndex(crawl)
        self._counter = Reader(crawl.folder.pages)
        self._pages = NO_PAGES
        self._pages_at = float("-inf")
        self._next_update = float("-inf") if crawl.config.collection else float("inf")
        self._reading: asyncio.Task[None] | None = None
        self.collection: CollectionStatus | None = None
        """The status of the collection when it was last read; None without one."""
        self._labels: list[Label] = []
        self._labels_read = 0
        self._reading_labels = asyncio.Lock()

    async def pages(self) -> IndexedPages:
        """Return the index of all pages, refreshed once a second; waits for it only the first time."""
        if self._reading is None and time.monotonic() - self._pages_at > PAGES_SECONDS:
            self._reading = asyncio.ensure_future(self._read_pages())
        if (reading := self._reading) is not None:
            timeout = None if self._pages_at == float("-inf") else PAGES_TIMEOUT_SECONDS
            await asyncio.wait([reading], timeout=timeout)
            if reading.done():
                self._reading = None if self._reading is reading else self._reading
                reading.result()
        return self._pages

    async def _read_pages(self) -> None:
        if time.monotonic() >= self._next_update:
            await self._update_pages()
        self._pages = await self._counter.pages()
        self._pages_at = time.monotonic()

    async def _update_pages(self) -> None:
        """Copy the pages of other machines from the collection, if there is one and it answers, and read its status."""
        try:
            self.collection = await read_collection(self.crawl, self.resources)
            await asyncio.to_thread(self.crawl.backend.update_pages)
        except (StoreError, OSError, sqlite3.Error) as error:
            logger.warning("only pages on this machine are shown: %s", error)
        self._next_update = time.monotonic() + COLLECTION_SECONDS

    async def labels(self) -> list[Label]:
        """Return all labels in the order in which they were given."""
        async with self._reading_labels:
            new, self._labels_read = await self.resources.labels.read(self._labels_read)
            self._labels += new
        return self._labels

    async def close(self) -> None:
        await self.search_index.close()
        self.judge.close()
        if self._reading is not None:
            await asyncio.wait([self._reading])
        await self.reader.close()
        await self._counter.close()
        await self.resources.close()
