"""Best-first search: a link is worth what the page it stands on is worth; SURVEY, figure 3, and FCMRPS 5.2.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.batches import Batches
from thresher.strategies.parents import Parents


class BestFirst:
    """Follow the links of the most relevant pages first.

    A generation rides on its URLs. Which pages link where is remembered for second thoughts of the judge; each worker
    knows its own pages, and after a restart those that the best of what waits was found on.

    Args:
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched, and then go best first. With a number, links wait until the
            ready queue is empty, and then so many of the best move into it.
    """

    merge = Merge.MAX

    def __init__(self, *, batch: str | int = "none") -> None:
        self._batches = Batches(batch)
        self.batch_size = self._batches.size
        self._parents = Parents(max)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link inherits the relevance of the page it stands on."""
        relevance, born = judgement.reward, self._batches.born(lease)
        if not born:  # a generation once sorted keeps its order
            self._parents.add(page.url, relevance, (link.url for link in page.links))
        score = self._batches.place(relevance, born)
        parts = {"page": relevance, **born}
        return (Candidate(url=link.url, score=score, parts=parts, carry=born) for link in page.links)

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember where a page of an earlier run links; what waits for its batch keeps its place."""
        if not (self._batches.size or self._batches.in_generations):
            self._parents.recall(page.url, judgement.reward, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links inherit what is now thought of their pages."""
        changes = self._parents.revise(revisions)
        return {url: Change(self._place(change.was), self._place(change.now)) for url, change in changes.items()}

    def _place(self, relevance: float) -> float:
        return self._batches.place(relevance, {})
