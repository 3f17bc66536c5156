"""The search index of a crawl, which grows in the background while it is searched."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from thresher.crawl import CrawlSetup
from thresher.errors import ThresherError
from thresher.search.index import NAME, SearchIndex
from thresher.search.query import SearchQuery
from thresher.search.ranking import Filters, SearchHit

logger = logging.getLogger(__name__)

CATCH_UP_SECONDS = 10.0
WAIT_SECONDS, FIRST_WAIT_SECONDS = 0.1, 1.0
"""How long a search waits for new pages to be indexed before it searches the pages that are."""


class _Closing(Exception):
    """Raised in the indexing thread when the dashboard ends."""


class LiveIndex:
    """The search index of one crawl, open in a thread of its own; another thread adds pages.

    An index that cannot be written beside the crawl is built in a temporary folder.
    """

    def __init__(self, crawl: CrawlSetup) -> None:
        self._crawl = crawl
        self._pages = crawl.folder.pages
        self._root = crawl.folder.root
        self._temporary = None if os.access(self._root, os.W_OK) else TemporaryDirectory(prefix="thresher-search-")
        self._index_folder = Path(self._temporary.name) if self._temporary else self._root
        self._index: SearchIndex | None = None
        self._search_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="search")
        self._update_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._update: asyncio.Future[None] | None = None
        self._next_update = 0.0
        self._is_built_elsewhere = False
        self._is_closing = False

    @property
    def is_growing(self) -> bool:
        """Whether pages are being added, by this process or by another one."""
        return self._is_built_elsewhere or (self._update is not None and not self._update.done())

    async def search(self, query: SearchQuery, filters: Filters, *, limit: int) -> tuple[list[SearchHit], int]:
        """Return the best hits, and the number of pages in the index."""
        loop = asyncio.get_running_loop()
        is_first = not (self._index_folder / NAME).exists()
        if self._update is None or (self._update.done() and time.monotonic() >= self._next_update):
            self._next_update = time.monotonic() + CATCH_UP_SECONDS
            self._update = loop.run_in_executor(self._update_thread, self._catch_up)
        await asyncio.wait([self._update], timeout=FIRST_WAIT_SECONDS if is_first else WAIT_SECONDS)
        return await loop.run_in_executor(self._search_thread, self._find, query, filters, limit)

    async def close(self) -> None:
        """Close the index; an update is stopped after the current row, and what it added is kept."""
        self._is_closing = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._search_thread, self._close)
        self._search_thread.shutdown()
        await loop.run_in_executor(None, self._update_thread.shutdown)

    def _catch_up(self) -> None:
        try:
            with SearchIndex(self._index_folder, self._pages) as index:
                self._crawl.backend.update_search(index)
                self._is_built_elsewhere = index.catch_up(self._stop_when_closing) is None
        except _Closing:
            return
        except ThresherError:
            logger.warning("the search index of %s cannot be updated", self._root, exc_info=True)

    def _stop_when_closing(self, rows: int) -> None:
        if self._is_closing:
            raise _Closing

    def _find(self, query: SearchQuery, filters: Filters, limit: int) -> tuple[list[SearchHit], int]:
        if self._index is None:
            self._index = SearchIndex(self._index_folder, self._pages)
        return (self._index.search(query, filters, limit=limit) if query else []), self._index.pages()

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
        if self._temporary is not None:
            self._temporary.cleanup()
