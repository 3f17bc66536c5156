"""A run of a crawl as an iterator over the pages that it fetches.

The page store is read while workers write to it: every page once, in the order of the fetches.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from thresher.api.page import Page, page_of
from thresher.api.supervision import Supervision
from thresher.coordination.last_run import RunEnd
from thresher.crawl import CrawlSetup
from thresher.monitoring.failures import FailureGroup
from thresher.runner.supervisor import SupervisorOptions
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader

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
