"""Best-first search: a link inherits the relevance of its page; SURVEY, figure 3, and FCMRPS 5.2.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.batches import Batches
from thresher.strategies.depth_limit import fcmrps_depth
from thresher.strategies.parent_scores import Parents


class BestFirst(BaseStrategy):
    """Follow the links of the most relevant pages first.

    The generation is carried by the URLs. The links of pages are remembered, so that waiting URLs can be rescored when
    the judge revises a page; each worker remembers its own pages, and after a restart the pages that link to the best
    waiting URLs.

    Args:
        batch: ``none`` follows the best waiting link. ``all`` takes the figure literally: links wait until all links
            found before them are fetched, and then go best first. With a number, links wait until the ready queue is
            empty, and then this many of the best move into it.
        D: A path may lead over D irrelevant pages in a row, by the rule of FCMRPS; 0 for no limit.
    """

    def __init__(self, *, batch: str | int = "none", D: int = 0) -> None:
        if D < 0:
            raise ValueError(f"D must be at least 0, got {D}")
        self._D = self.seed_depth = D
        self._batches = Batches(batch)
        self.batch_size = self._batches.size
        self._parents = Parents(max)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        depth = fcmrps_depth(lease.depth_left, judgement.relevant, self._D) if self._D else 0
        if depth is None:
            return iter(())
        relevance, strategy_data = judgement.reward, self._batches.generation_data(lease)
        if not strategy_data:  # a generation once sorted keeps its order
            self._parents.add(page.url, relevance, (link.url for link in page.links))
        score = self._batches.place(relevance, strategy_data)
        breakdown = {"page": relevance, **strategy_data}
        return (
            Candidate(url=link.url, score=score, breakdown=breakdown, strategy_data=strategy_data, depth_left=depth)
            for link in page.links
        )

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember the links of a page of an earlier run; links that wait for a batch keep their scores."""
        if not (self._batches.size or self._batches.in_generations):
            self._parents.warm_start(page.url, judgement.reward, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        changes = self._parents.revise(revisions)
        return {url: ScoreChange(self._place(change.was), self._place(change.now)) for url, change in changes.items()}

    def _place(self, relevance: float) -> float:
        return self._batches.place(relevance, {})
