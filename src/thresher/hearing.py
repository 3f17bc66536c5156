"""How a worker hears what people say of pages: it reads on in their book, lets its judge think again, and says so."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from thresher.archive.collection import Collection
from thresher.archive.kept_page import kept_page
from thresher.crew import say_heard
from thresher.labels import LabelBook, last_words
from thresher.records import ParsedPage
from thresher.rethink import Rethink
from thresher.urls.canonical import fingerprint

LISTEN_SECONDS = 1.0


class Hearing:
    """One worker's ear.

    Args:
        pages: The page store, where labelled pages are found that the judge has no longer at hand.
    """

    def __init__(
        self,
        book: LabelBook,
        rethink: Rethink,
        *,
        worker: str,
        pages: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book = book
        self._rethink = rethink
        self._worker = worker
        self._pages = pages
        self._clock = clock
        self._heard = -1
        self._next = 0.0

    async def begin(self) -> None:
        """Take up what earlier runs found, and hear all that was said so far: the judge may not have been there."""
        await self._rethink.take_up(self._pages)
        await self.listen()

    async def listen(self) -> None:
        """Hear what was said since the last time, if that is a while ago."""
        if self._clock() < self._next:
            return
        labels, count = await self._book.read(max(self._heard, 0))
        if labels:
            await self._rethink.teach(last_words(labels), self._page)
        if count != self._heard:
            self._heard = count
            await say_heard(self._rethink.frontier, self._worker, count)
        self._next = self._clock() + LISTEN_SECONDS

    async def close(self) -> None:
        """Let go of the book."""
        await self._book.close()

    def _page(self, url: str) -> ParsedPage | None:
        with Collection(self._pages) as collection:
            found = kept_page(collection, fingerprint(url))
        return found[0] if found else None
