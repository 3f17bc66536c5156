"""When a learner thinks again, writes down what it learned, and reads what others learned: rarer as the crawl grows.

Thinking again costs more the more pages there are, so it is due after a tenth of all that the crawl has seen. A page
that another worker learned from counts too, but no worker may be kept busy by the pages of sixty others.
"""

from __future__ import annotations

REFIT_SHARE = 0.1
"""Of the pages seen by all: how many must come before the next refit."""
OWN_PAGES, OWN_SHARE = 8, 0.02
"""Pages of its own that a worker learns from between two refits: so many, or this share of what a refit looks at."""
FIRST_WRITE, WRITE_SHARE, LAST_WRITE = 5, 0.25, 250
"""Own pages between two entries: at first, as a share of those seen, and at last: what a crash may cost."""
READ_SHARE, LAST_READ = 0.1, 25
"""Own pages between two looks at what others wrote: as a share of those seen, and at last."""


class Rhythm:
    """Counts a worker's own pages from one turn to the next.

    Args:
        refit_pages: Pages of the crawl between two refits at first.
        write: Own pages between two entries: at first, as a share of those seen, and at last.
        read_share: Own pages between two looks at what others wrote, as a share of those seen.
    """

    def __init__(
        self,
        refit_pages: int = 1,
        *,
        write: tuple[int, float, int] = (FIRST_WRITE, WRITE_SHARE, LAST_WRITE),
        read_share: float = READ_SHARE,
    ) -> None:
        self._refit_pages = refit_pages
        self._write = write
        self._read_share = read_share
        self._next_fit = float(refit_pages)
        self._fit_at = self._written_at = self._read_at = 0

    def is_fit_due(self, own: int, everybody: int, rows: int) -> bool:
        """Tell whether it is time to think again.

        Args:
            own: Pages that this worker has seen.
            everybody: Pages that all workers have seen, as far as is known.
            rows: Pages that a refit would look at.
        """
        return everybody >= self._next_fit and self._waited_enough(own, everybody, rows)

    def _waited_enough(self, own: int, everybody: int, rows: int) -> bool:
        return own == everybody or own - self._fit_at >= max(OWN_PAGES, OWN_SHARE * rows)

    def fit(self, own: int, everybody: int, *, wait: float | None = None) -> None:
        """Note that it was thought again, and after how many pages of the crawl to do so next."""
        self._fit_at = own
        self._next_fit = everybody + (max(self._refit_pages, REFIT_SHARE * everybody) if wait is None else wait)

    def fit_within(self, everybody: int, pages: int) -> None:
        """Let the next refit come within so many pages."""
        self._next_fit = min(self._next_fit, everybody + pages)

    def is_write_due(self, own: int) -> bool:
        """Tell whether it is time to write down what was learned."""
        first, share, last = self._write
        return own - self._written_at >= min(max(first, share * self._written_at), last)

    def written(self, own: int) -> None:
        """Note that it was written down."""
        self._written_at = own

    def is_read_due(self, own: int) -> bool:
        """Tell whether it is time to look at what others wrote."""
        return own - self._read_at >= min(max(1, self._read_share * self._read_at), LAST_READ)

    def read(self, own: int) -> None:
        """Note that it was looked at."""
        self._read_at = own
