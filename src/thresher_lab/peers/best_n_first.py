"""Best-N-first: Menczer, Pant and Srinivasan, ACM Transactions on Internet Technology 4(4), 2004.

A best-first crawler that fetches the N best links at a time. A larger N explores more: the pages of a batch affect only
the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.best_first import BestFirst


class BestNFirst(BaseStrategy):
    """Follow the links of the most relevant pages, N at a time.

    Links are remembered as by best-first, up to 200,000; after a restart, only new ones.

    Args:
        N: Links per batch; 1 is best-first.
    """

    def __init__(self, *, N: int = 256) -> None:
        if type(N) is not int or N < 1:
            raise ValueError(f"N must be a number of at least 1, got {N!r}")
        self._best_first = BestFirst(batch=N)
        self.batch_size = self._best_first.batch_size

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterable[Candidate]:
        """Score every link by the relevance of its page, until the batch is done."""
        return self._best_first.score(page, judgement, lease)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Rescore waiting links by revised judgements; the current batch stays as it is."""
        return self._best_first.revise(revisions)
