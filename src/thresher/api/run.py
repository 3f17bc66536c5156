"""A run of a crawl as an iterator over the pages that it brings."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Self

from thresher.api.following import Following
from thresher.api.page import Page
from thresher.api.supervision import Supervision
from thresher.build import Crawl
from thresher.ended import Ended
from thresher.engine.progress import Limits
from thresher.failures import FailureGroup

LOOK_SECONDS = 0.1


class Run(Iterator[Page]):
    """Yields the pages of a run as they are settled, each once; pages of earlier runs are in `Crawl.pages`.

    The run begins with the first page that is asked for. It is stopped, so that open requests are finished and
    everything is saved, when the loop over it is left, by an error or Ctrl-C too, when the program ends, or by `stop`.
    A second Ctrl-C stops it at once.

    Whoever keeps a run in a variable of his own leaves it by ``with``::

        with crawl.run(pages=500) as run:
            for page in run:
                ...
    """

    def __init__(self, crawl: Crawl, *, workers: int, limits: Limits) -> None:
        self._supervision = Supervision(crawl, workers=workers, limits=limits)
        self._following = Following(crawl.folder.pages)
        self._ready: deque[Page] = deque()
        self._has_begun = False
        self._leave = weakref.finalize(self, self._supervision.drain)
        self._leave.atexit = False  # then the supervision drains by itself

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
            running = self._supervision.is_alive()  # looked at first: what came before its end is read after it
            self._ready.extend(self._following.new())
            if not self._ready:
                if not running:
                    self._raise_its_error()
                    raise StopIteration
                self._supervision.join(LOOK_SECONDS)
        return self._ready.popleft()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let open requests finish, save, and wait until that is done; the crawl can be gone on with."""
        self._leave()

    @property
    def ending(self) -> str:
        """Say how it ended; empty as long as it runs."""
        return self.ended.words if self.ended else ""

    @property
    def ended(self) -> Ended | None:
        """How it ended, with a code for programs and the exit code of the command; None as long as it runs."""
        result = self._supervision.standing.result
        return result.ended if result else None

    @property
    def failures(self) -> Sequence[FailureGroup]:
        """Why URLs brought no page, by reason, those with most URLs first; empty as long as it runs."""
        result = self._supervision.standing.result
        return result.failures.groups if result else ()

    def _raise_its_error(self) -> None:
        if error := self._supervision.standing.error:
            self._supervision.standing.error = None
            raise error

    def __repr__(self) -> str:
        progress = self._supervision.standing.progress
        numbers = f"{progress.counts.pages:,} pages, {progress.counts.relevant:,} relevant" if progress else "not begun"
        return f"<Run: {numbers}{f', {self.ending}' if self.ending else ''}>"
