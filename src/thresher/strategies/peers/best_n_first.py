"""Best-N-first: Menczer, Pant and Srinivasan, ACM Transactions on Internet Technology 4(4), 2004.

A best-first crawler that takes the N best links at a time. A larger N explores more: what the pages of a batch bring
counts only for the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.best_first import BestFirst


class BestNFirst:
    """Follow the links of the most relevant pages, N at a time.

    Which pages link where is remembered as by best-first, up to 200,000 links; after a restart those that come.

    Args:
        N: How many links make a batch; 1 is best-first.
    """

    merge = Merge.MAX

    def __init__(self, *, N: int = 256) -> None:
        if type(N) is not int or N < 1:
            raise ValueError(f"N must be a number of at least 1, got {N!r}")
        self._best_first = BestFirst(batch=N)
        self.batch_size = self._best_first.batch_size

    def seeds(self, urls: Sequence[str]) -> Iterable[Candidate]:
        """Seeds are the first batch."""
        return self._best_first.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Every link waits with the relevance of the page it stands on until the batch is done."""
        return self._best_first.score(page, judgement, lease)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links that wait for a batch follow second thoughts of the judge; the batch itself stays as it is."""
        return self._best_first.revise(revisions)
