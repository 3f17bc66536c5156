"""Share of relevant parents: the score of a link is the share of relevant pages among all that link to it.

A strong baseline that is in none of our papers. Each page adds its judgement to the mean score of the URLs it links to,
so the frontier itself keeps the share (merge ``mean``) and no worker has to store a graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.parent_scores import Parents


class RelevantParents(BaseStrategy):
    """Follow links whose known parents are mostly relevant.

    The frontier keeps the share, for all workers. The links of pages are remembered only for rescoring when the judge
    revises a page; each worker remembers its own pages, and after a restart the pages that link to the best waiting
    URLs.
    """

    merge = Merge.MEAN

    def __init__(self) -> None:
        self._parents = Parents(fmean)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        share = judgement.reward
        self._parents.add(page.url, share, (link.url for link in page.links))
        breakdown = {"this parent": share}
        return (Candidate(url=link.url, score=share, breakdown=breakdown) for link in page.links)

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        self._parents.warm_start(page.url, judgement.reward, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        return self._parents.revise(revisions)
