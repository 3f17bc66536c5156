"""When a learner refits, saves its state, and reads the state of other workers: less often as the crawl grows.

The cost of a refit grows with the number of pages, so the next one is due after a tenth of all pages of the crawl.
Pages of other workers count too, but a worker must not be kept busy by the pages of sixty others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

REFIT_SHARE = 0.1
"""Pages until the next refit, as a share of the pages seen by all workers."""
OWN_PAGES, OWN_SHARE = 8, 0.02
"""Own pages between two refits at least: this many, or this share of the pages that a refit reads."""
FIRST_WRITE, WRITE_SHARE, LAST_WRITE = 5, 0.25, 250
"""Own pages between two saves: minimum, share of those seen, maximum. A crash loses at most these, or the pages of
`write_seconds`."""
READ_SHARE, LAST_READ = 0.1, 25
"""Own pages between two reads of the other workers' entries: share of those seen, maximum."""


class RefitSchedule:
    """The schedule of one worker, counted in pages.

    Args:
        refit_pages: Pages of the crawl between two refits at first.
        write: Own pages between two saves: minimum, share of those seen, maximum.
        read_share: Own pages between two reads of other workers' entries, as a share of those seen.
        clock: Seconds.
        write_seconds: Seconds between two saves at least: a fast crawl has many pages in the time of one save.
    """

    write_seconds: float = 0.0

    def __init__(
        self,
        refit_pages: int = 1,
        *,
        write: tuple[int, float, int] = (FIRST_WRITE, WRITE_SHARE, LAST_WRITE),
        read_share: float = READ_SHARE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._refit_pages = refit_pages
        self._write = write
        self._read_share = read_share
        self._next_fit = float(refit_pages)
        self._fit_at = self._written_at = self._read_at = 0
        self._clock = clock
        self._written_time = -math.inf

    def is_fit_due(self, own: int, everybody: int, rows: int) -> bool:
        """Return whether a refit is due.

        Args:
            own: Pages that this worker has seen.
            everybody: Pages that all workers have seen, as far as is known.
            rows: Pages that a refit would read.
        """
        return everybody >= self._next_fit and self._waited_enough(own, everybody, rows)

    def _waited_enough(self, own: int, everybody: int, rows: int) -> bool:
        return own == everybody or own - self._fit_at >= max(OWN_PAGES, OWN_SHARE * rows)

    def fit(self, own: int, everybody: int, *, wait: float | None = None) -> None:
        """Record a refit, and schedule the next one after `wait` pages of the crawl, or the usual number."""
        self._fit_at = own
        self._next_fit = everybody + (max(self._refit_pages, REFIT_SHARE * everybody) if wait is None else wait)

    def fit_within(self, everybody: int, pages: int) -> None:
        """Schedule the next refit within this many pages."""
        self._next_fit = min(self._next_fit, everybody + pages)

    def is_write_due(self, own: int) -> bool:
        first, share, last = self._write
        enough = own - self._written_at >= min(max(first, share * self._written_at), last)
        return enough and self._clock() - self._written_time >= self.write_seconds

    def written(self, own: int) -> None:
        """Record a save."""
        self._written_at, self._written_time = own, self._clock()

    def is_read_due(self, own: int) -> bool:
        """Return whether the entries of other workers should be read."""
        return own - self._read_at >= min(max(1, self._read_share * self._read_at), LAST_READ)

    def read(self, own: int) -> None:
        """Record a read."""
        self._read_at = own
