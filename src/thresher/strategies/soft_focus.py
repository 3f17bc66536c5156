"""Soft focus: Chakrabarti, van den Berg and Dom, WWW8, 1999; the baseline of RULES."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.distiller import Distiller
from thresher.strategies.parents import Parents


class SoftFocus:
    """Follow first the links of pages that are likely about the topic; no link is dropped.

    Which pages link where is remembered for second thoughts of the judge; each worker knows its own pages, and after a
    restart those that the best of what waits was found on.

    Args:
        distill: Pages after which the best hubs among the crawled pages are looked for, and what they link to is
            lifted; 0 for never. The hubs, too, are each worker's own.
    """

    merge = Merge.MAX

    def __init__(self, *, distill: int = 0) -> None:
        if distill < 0:
            raise ValueError(f"distill must be at least 0, got {distill}")
        self._parents = Parents(max)
        self._distiller = Distiller(every=distill) if distill else None

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link gets the probability that its page is of a wanted class."""
        probability = judgement.relevance
        urls = [link.url for link in page.links]
        self._parents.add(page.url, probability, urls)
        if self._distiller:
            self._distiller.add(page.url, probability, urls)
        return (self._candidate(url, probability) for url in urls)

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember where a page of an earlier run links."""
        self._parents.recall(page.url, judgement.relevance, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links follow what is now thought of their pages, and of the hubs among those."""
        likely = [by_relevance(revision) for revision in revisions]
        changes = {
            url: Change(change.was + self._lift(url), change.now + self._lift(url))
            for url, change in self._parents.revise(likely).items()
        }
        if self._distiller:
            self._distiller.revise(likely)
            for url, lift in self._distiller.distill().items():
                if (probability := self._parents.score_of(url)) is not None:
                    was = changes[url].was if url in changes else probability + lift.was
                    changes[url] = Change(was, probability + lift.now)
        return changes

    def _candidate(self, url: str, probability: float) -> Candidate:
        lift = self._lift(url)
        parts = {"page": probability, "hubs": lift} if lift else {"page": probability}
        return Candidate(url=url, score=probability + lift, parts=parts)

    def _lift(self, url: str) -> float:
        return self._distiller.lift(url) if self._distiller else 0.0


def by_relevance(revision: Revision) -> Revision:
    """Make the relevance the reward: links are scored by how likely their page is of a wanted class."""
    return replace(revision, judgement=replace(revision.judgement, reward=revision.judgement.relevance))
