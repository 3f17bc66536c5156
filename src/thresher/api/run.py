"""A run of a crawl as an iterator over the pages that it fetches.

The page store is read while workers write to it: every page once, in the order of the fetches.

`Supervision` is a run in a thread with its own event loop, independent of the program's loop and signals.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from thresher.api.page import Page, page_of
from thresher.coordination.last_run import RunEnd
from thresher.crawl import CrawlSetup
from thresher.monitoring.failures import FailureGroup
from thresher.runner.limits import Progress
from thresher.runner.supervisor import RunResult, Supervisor, SupervisorOptions
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader


@dataclass
class RunState:
    """The state of a run, shared by its thread and the program.

    Args:
        progress: The newest numbers; None before the first.
        result: How it ended; None while it runs, and when it failed.
        error: Why it failed.
    """

    progress: Progress | None = None
    result: RunResult | None = None
    error: BaseException | None = None


_RUNNING: weakref.WeakSet[Supervision] = weakref.WeakSet()


def _stop_all() -> None:
    """Drain all runs when the program ends, while threads can still be used."""
    for supervision in list(_RUNNING):
        supervision.drain()


getattr(threading, "_register_atexit", atexit.register)(_stop_all)


class Supervision(threading.Thread):
    """A thread that supervises worker processes; when the program ends first, they drain."""

    def __init__(self, crawl: CrawlSetup, options: SupervisorOptions) -> None:
        super().__init__(name=f"thresher run of {crawl.folder.root}", daemon=True)
        self._crawl = crawl
        self._options = options
        self._loop: asyncio.AbstractEventLoop | None = None
        self._supervisor: Supervisor | None = None
        self._begun = threading.Event()
        self.state = RunState()

    def start(self) -> None:
        _RUNNING.add(self)
        super().start()

    def run(self) -> None:
        try:
            with self._crawl.folder.only_one_run():
                self.state.result = asyncio.run(self._supervise())
        except BaseException as error:  # raised again in the thread that waits for pages
            self.state.error = error
        finally:
            self._begun.set()

    async def _supervise(self) -> RunResult:
        self._loop = asyncio.get_running_loop()
        options = replace(self._options, report=self._on_progress, handles_signals=False)
        self._supervisor = Supervisor(self._crawl, options)
        self._begun.set()
        return await self._supervisor.run()

    def _on_progress(self, progress: Progress) -> None:
        self.state.progress = progress

    def interrupt(self) -> None:
        """Let workers drain; a second call stops them at once."""
        self._begun.wait()
        if self._loop and self._supervisor and self.is_alive():
            try:
                self._loop.call_soon_threadsafe(self._supervisor.interrupt)
            except RuntimeError:  # the loop has ended meanwhile
                return

    def drain(self) -> None:
        """Let workers drain, and wait for it; a second Ctrl-C stops them at once."""
        if not self.is_alive():
            return
        self.interrupt()
        try:
            self.join()
        except KeyboardInterrupt:
            self.interrupt()
            self.join()
            raise


_NEW = "SELECT id, fingerprint FROM page WHERE id > ? AND page = 1 ORDER BY id"
_LAST = "SELECT coalesce(max(id), 0) FROM page"
_BEFORE = "SELECT 1 FROM page WHERE fingerprint = ? AND page = 1 AND id <= ?"


class PageStream:
    """The pages that are added to a page store from now on.

    A page that is fetched again, because its worker was killed before the commit, is not new.

    Args:
        folder: The folder of segments, one per worker.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with PageStoreReader(folder) as collection:
            self._begin = dict(zip(collection.names, _lasts(collection), strict=True))
        self._read = dict(self._begin)
        self._seen: set[int] = set()

    def new(self) -> Iterator[Page]:
        """Yield the pages that were added since the last call."""
        with PageStoreReader(self._folder) as collection:
            found = [record for number in range(len(collection.names)) for record in self._segment(collection, number)]
            for record in sorted(found, key=lambda record: record.fetched_at):
                yield page_of(record, collection)

    def _segment(self, collection: PageStoreReader, number: int) -> Iterator[PageRecord]:
        name = collection.names[number]
        for row_id, fingerprint in collection.segments[number].execute(_NEW, [self._read.get(name, 0)]).fetchall():
            self._read[name] = row_id
            if fingerprint in self._seen or self._was_there(collection, fingerprint):
                continue
            self._seen.add(fingerprint)
            if record := collection.record(number, row_id):
                yield record

    def _was_there(self, collection: PageStoreReader, fingerprint: int) -> bool:
        """Return whether the page was in the store when the stream was opened."""
        segments = zip(collection.names, collection.segments, strict=True)
        results = (segment.execute(_BEFORE, [fingerprint, self._begin.get(name, 0)]) for name, segment in segments)
        return any(found.fetchone() for found in results)


def _lasts(collection: PageStoreReader) -> list[int]:
    return [int(segment.execute(_LAST).fetchone()[0]) for segment in collection.segments]


POLL_SECONDS = 0.1


class Run(Iterator[Page]):
    """Yields the pages of a run as they are settled, each once; pages of earlier runs are in `Crawl.pages`.

    The run begins when the first page is requested. It is stopped gracefully, with open requests finished and
    everything saved, when the loop over it is left, also by an error or Ctrl-C, when the program ends, or by `stop`. A
    second Ctrl-C stops it at once.

    To keep a run in a variable, use ``with``::

        with crawl.run(pages=500) as run:
            for page in run:
                ...
    """

    def __init__(self, crawl: CrawlSetup, options: SupervisorOptions) -> None:
        self._supervision = Supervision(crawl, options)
        self._stream = PageStream(crawl.folder.pages)
        self._ready: deque[Page] = deque()
        self._has_begun = False
        self._leave = weakref.finalize(self, self._supervision.drain)
        self._leave.atexit = False  # the supervision drains at exit by itself

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Page:
        if not self._has_begun:
            self._has_begun = True
            self._supervision.start()
        try:
            return self._next()
        except BaseException:  # Ctrl-C among them; the end of the run is StopIteration
            self.stop()
            raise

    def _next(self) -> Page:
        while not self._ready:
            running = self._supervision.is_alive()  # read first, so that pages from before its end are not missed
            self._ready.extend(self._stream.new())
            if not self._ready:
                if not running:
                    self._raise_error()
                    raise StopIteration
                self._supervision.join(POLL_SECONDS)
        return self._ready.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish open requests, save, and wait until that is done; the crawl can be continued later."""
        self._leave()

    @property
    def ending(self) -> str:
        """How the run ended, in words; empty while it runs."""
        return self.ended.words if self.ended else ""

    @property
    def ended(self) -> RunEnd | None:
        """How the run ended, with a code for programs and the exit code of the command; None while it runs."""
        result = self._supervision.state.result
        return result.ended if result else None

    @property
    def failures(self) -> Sequence[FailureGroup]:
        """Why URLs gave no page, by reason, those with most URLs first; empty while it runs."""
        result = self._supervision.state.result
        return result.status.failures if result else ()

    def _raise_error(self) -> None:
        if error := self._supervision.state.error:
            self._supervision.state.error = None
            raise error

    def __repr__(self) -> str:
        progress = self._supervision.state.progress
        numbers = f"{progress.status.pages:,} pages, {progress.status.relevant:,} relevant" if progress else "not begun"
        return f"<Run: {numbers}{f', {self.ending}' if self.ending else ''}>"
