"""Soft focus: Chakrabarti, van den Berg and Dom, WWW8, 1999; the baseline of RULES."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.records import Candidate, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import BaseStrategy, ScoreChange
from thresher.strategies.parent_scores import Parents
from thresher_papers.strategies.distiller import Distiller
from thresher_papers.strategies.evidence.page_rank import PageRankLift


class SoftFocus(BaseStrategy):
    """Follow first the links of pages that are likely about the topic; no link is dropped.

    The links of pages are remembered for rescoring when the judge revises a page; each worker remembers its own pages,
    and after a restart the pages that link to the best waiting URLs.

    Args:
        distill: Pages between two computations of the best hubs among the crawled pages, whose links get a bonus;
            0 for never. Each worker has its own hubs, too.
        page_rank: Pages between two computations of the PageRank of waiting URLs, which adds to their scores; 0 for
            never. Not together with `distill`.
    """

    def __init__(self, *, distill: int = 0, page_rank: int = 0) -> None:
        if min(distill, page_rank) < 0:
            raise ValueError(f"distill and page_rank must be at least 0, got {distill} and {page_rank}")
        if distill and page_rank:
            raise ValueError("distill and page_rank cannot be used together")
        self._parents = Parents(max)
        self._lift_name = "page rank" if page_rank else "hubs"
        self._distiller: Distiller | None = None
        if distill or page_rank:
            self._distiller = PageRankLift(every=page_rank) if page_rank else Distiller(every=distill)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Score every link with the probability that its page is of a wanted class."""
        probability = judgement.relevance
        urls = [link.url for link in page.links]
        self._parents.add(page.url, probability, urls)
        if self._distiller:
            self._distiller.add(page.url, probability, urls)
        return (self._candidate(url, probability) for url in urls)

    def warm_start(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        self._parents.warm_start(page.url, judgement.relevance, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, ScoreChange]:
        """Return the score changes by revised pages, and by hubs when these are due."""
        likely = [by_relevance(revision) for revision in revisions]
        changes = {
            url: ScoreChange(change.was + self._lift(url), change.now + self._lift(url))
            for url, change in self._parents.revise(likely).items()
        }
        if self._distiller:
            self._distiller.revise(likely)
            for url, lift in self._distiller.distill().items():
                if (probability := self._parents.score_of(url)) is not None:
                    was = changes[url].was if url in changes else probability + lift.was
                    changes[url] = ScoreChange(was, probability + lift.now)
        return changes

    def _candidate(self, url: str, probability: float) -> Candidate:
        lift = self._lift(url)
        breakdown = {"page": probability, self._lift_name: lift} if lift else {"page": probability}
        return Candidate(url=url, score=probability + lift, breakdown=breakdown)

    def _lift(self, url: str) -> float:
        return self._distiller.lift(url) if self._distiller else 0.0


def by_relevance(revision: Revision) -> Revision:
    """Return a revision with the relevance as its reward: links are scored by the probability of a wanted class."""
    return replace(revision, judgement=replace(revision.judgement, reward=revision.judgement.relevance))
