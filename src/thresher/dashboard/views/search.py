"""Full text over the collection; the index grows in the background while somebody searches."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from thresher.archive.collection import Collection
from thresher.dashboard.views.pages import page_row
from thresher.dashboard.watched import WatchedCrawl
from thresher.errors import ThresherError
from thresher.search.find import Filters, Found
from thresher.search.index import NAME, SearchIndex
from thresher.search.query import Query
from thresher.search.snippets import snippet

logger = logging.getLogger(__name__)

CATCH_UP_SECONDS = 10.0
PATIENCE_SECONDS, FIRST_PATIENCE_SECONDS = 0.1, 1.0
"""So long a search waits for new pages to come into the index; then it searches those that are there."""


class _Leaving(Exception):
    """The dashboard ends."""


class Searcher:
    """The search index of one crawl, open in a thread of its own; another thread adds to it."""

    def __init__(self, watched: WatchedCrawl) -> None:
        self._watched = watched
        self._pages = watched.crawl.folder.pages
        self._root = watched.crawl.folder.root
        self._temporary = None if os.access(self._root, os.W_OK) else TemporaryDirectory(prefix="thresher-search-")
        self._place = Path(self._temporary.name) if self._temporary else self._root
        self._index: SearchIndex | None = None
        self._asking = ThreadPoolExecutor(max_workers=1, thread_name_prefix="search")
        self._adding = ThreadPoolExecutor(max_workers=1, thread_name_prefix="index")
        self._growing: asyncio.Future[None] | None = None
        self._next = 0.0
        self._is_built_elsewhere = False
        self._is_leaving = False

    async def search(self, typed: str, *, limit: int = 20, language: str = "", host: str = "") -> dict[str, Any]:
        """Return the pages that answer best."""
        loop, query = asyncio.get_running_loop(), Query.read(typed)
        is_first = not (self._place / NAME).exists()
        growing = self._grow(loop)
        await asyncio.wait([growing], timeout=FIRST_PATIENCE_SECONDS if is_first else PATIENCE_SECONDS)
        filters = Filters(host=host, language=language.lower())
        found, pages = await loop.run_in_executor(self._asking, self._find, query, filters, limit)
        hits = await self._watched.reader.ask(lambda collection: [_hit(collection, each, query) for each in found])
        listed = [hit for hit in hits if hit]
        return {
            "hits": listed,
            "total": len(listed),
            "indexed": pages,
            "growing": self._is_built_elsewhere or not growing.done(),
        }

    async def close(self) -> None:
        """Let go of the index; one that grows is left as far as it is."""
        self._is_leaving = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._asking, self._close)
        self._asking.shutdown()
        await loop.run_in_executor(None, self._adding.shutdown)

    def _grow(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        if self._growing is None or (self._growing.done() and time.monotonic() >= self._next):
            self._next = time.monotonic() + CATCH_UP_SECONDS
            self._growing = loop.run_in_executor(self._adding, self._catch_up)
        return self._growing

    def _catch_up(self) -> None:
        try:
            with self._new_index() as index:
                self._is_built_elsewhere = index.catch_up(self._go_on) is None
        except _Leaving:
            return
        except ThresherError:
            logger.warning("the search index of %s cannot be brought up to date", self._root, exc_info=True)

    def _go_on(self, rows: int) -> None:
        """Break off after any row when the dashboard ends; what was taken in is kept."""
        if self._is_leaving:
            raise _Leaving

    def _find(self, query: Query, filters: Filters, limit: int) -> tuple[list[Found], int]:
        if self._index is None:
            self._index = self._new_index()
        return (self._index.search(query, filters, limit=limit) if query else []), self._index.pages()

    def _new_index(self) -> SearchIndex:
        return SearchIndex(self._place, self._pages)

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
        if self._temporary is not None:
            self._temporary.cleanup()


def _hit(collection: Collection, found: Found, query: Query) -> dict[str, Any] | None:
    record = collection.find(found.fingerprint)
    if record is None:
        return None
    text = collection.text(found.fingerprint).removeprefix(record.title)
    return {
        **page_row(record),
        "snippet": snippet(text, query.terms),
        "all_words": found.whole,
        "match": found.match,
        "alike": found.alike,
    }
