"""Soft focus: Chakrabarti, van den Berg and Dom, WWW8, 1999; the baseline of RULES."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.parents import Parents


class SoftFocus:
    """Follow first the links of pages that are likely about the topic; no link is dropped."""

    merge = Merge.MAX

    def __init__(self) -> None:
        self._parents = Parents(max)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link gets the probability that its page is of a wanted class."""
        probability = likelihood(judgement)
        self._parents.add(page.url, probability, (link.url for link in page.links))
        parts = {"page": probability}
        return (Candidate(url=link.url, score=probability, parts=parts) for link in page.links)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links follow what is now thought of their pages."""
        return self._parents.revise([as_likelihood(revision) for revision in revisions])


def likelihood(judgement: Judgement) -> float:
    """Give the probability of a page, or its relevance where the judge knows no probability."""
    return judgement.relevance if judgement.probability is None else judgement.probability


def as_likelihood(revision: Revision) -> Revision:
    """Put the probability in the place of the relevance."""
    return replace(revision, judgement=replace(revision.judgement, relevance=likelihood(revision.judgement)))
