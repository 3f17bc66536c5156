"""Random order: the baseline that knows nothing, not even which link came first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage


class RandomOrder:
    """Follow links in random order.

    Nothing is saved: a restart begins to draw from the start again, and so does every worker, for the links it meets.

    Args:
        random_state: The same number gives the same order.
    """

    merge = Merge.FIRST

    def __init__(self, *, random_state: int = 0) -> None:
        self._random = Random(random_state)  # noqa: S311 - no secret

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Draw a place for every link."""
        return (Candidate(url=link.url, score=self._random.random()) for link in page.links)
