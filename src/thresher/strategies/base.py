"""What every strategy promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage


class Strategy(Protocol):
    """Decides in which order links are followed.

    A strategy answers with candidates; it may leave out links it does not want. `url`, `score`, `parts`, `carry` and
    `depth_left` of a candidate are the strategy's; hops, parent and redirects are filled in by the line.
    """

    merge: Merge
    """What becomes of the score when a waiting URL is found again."""

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Give the seeds their place in the queue."""
        ...

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Give the links of a page their place in the queue; `lease` is the one the page was fetched by."""
        ...
