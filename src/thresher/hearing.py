"""How a worker takes up labels: it polls the label log, retrains its judge, judges its pages again and reports it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from thresher.archive.collection import Collection
from thresher.archive.kept_page import kept_page
from thresher.crew import heard_by, say_heard
from thresher.labels import LabelBook, last_words
from thresher.records import ParsedPage
from thresher.rethink import Rethink
from thresher.urls.canonical import fingerprint

LISTEN_SECONDS = 1.0
REJUDGE_SHARE = 0.1
"""Of a worker's time: what judging all of its pages again may take while labels come one after the other."""


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
        self._read = 0
        self._reported = -1
        self._stale = False
        self._next = self._next_rejudge = 0.0

    async def begin(self) -> None:
        """Take up what earlier runs found, and hear all that was said so far: the judge may not have been there."""
        await self._rethink.take_up(self._pages)
        await self.listen()

    async def listen(self) -> None:
        """Take up new labels, if the last poll is a while ago; report them once all pages were judged again."""
        if self._clock() < self._next:
            return
        labels, self._read = await self._book.read(self._read)
        if labels:
            await self._rethink.teach(last_words(labels), self._page)
            known = await heard_by(self._rethink.frontier, self._worker)  # in an earlier run
            self._stale = self._stale or known != self._read
        if self._stale and self._clock() >= self._next_rejudge:
            await self._rejudge()
        if not self._stale and self._reported != self._read:
            self._reported = self._read
            await say_heard(self._rethink.frontier, self._worker, self._read)
        self._next = self._clock() + LISTEN_SECONDS

    async def _rejudge(self) -> None:
        began = self._clock()
        await self._rethink.rejudge()
        self._stale = False
        self._next_rejudge = self._clock() + (self._clock() - began) / REJUDGE_SHARE

    async def close(self) -> None:
        """Let go of the book."""
        await self._book.close()

    def _page(self, url: str) -> ParsedPage | None:
        with Collection(self._pages) as collection:
            found = kept_page(collection, fingerprint(url))
        return found[0] if found else None
