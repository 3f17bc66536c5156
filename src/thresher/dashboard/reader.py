"""The page store as the dashboard reads it: opened once, in a thread of its own, and again when segments come or go."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from thresher.archive.collection import Collection
from thresher.dashboard.ledger import Ledger, Pages
from thresher.errors import StoreError

T = TypeVar("T")


class Reader:
    """Asks a collection, one question after another.

    Args:
        folder: Of the segments.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: list[Path] = []
        self._collection: Collection | None = None
        self._ledger = Ledger()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages")

    async def ask(self, question: Callable[[Collection], T]) -> T:
        """Return what a question finds in the collection.

        Raises:
            StoreError: The collection cannot be read.
        """
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: question(self._opened()))
        except sqlite3.Error as error:
            raise StoreError(f"the pages cannot be read now: {error}") from error

    async def pages(self) -> Pages:
        """Return what is known of every page."""
        return await self.ask(lambda collection: self._ledger.read(collection.segments))

    async def close(self) -> None:
        """Let go of the files."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _opened(self) -> Collection:
        paths = sorted(self._folder.glob("*.db"))
        if self._collection is None or paths != self._paths or len(self._collection.segments) != len(paths):
            self._close()
            self._collection, self._paths = Collection(self._folder), paths
        return self._collection

    def _close(self) -> None:
        if self._collection is not None:
            self._collection.close()
            self._collection = None
