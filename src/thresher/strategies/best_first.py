"""Best-first search, greedy: a link is worth what the page it stands on is worth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.parents import Parents


class BestFirst:
    """Follow the links of the most relevant pages first."""

    merge = Merge.MAX

    def __init__(self) -> None:
        self._parents = Parents(max)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link inherits the relevance of the page it stands on."""
        self._parents.add(page.url, judgement.relevance, (link.url for link in page.links))
        parts = {"page": judgement.relevance}
        return (Candidate(url=link.url, score=judgement.relevance, parts=parts) for link in page.links)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links inherit what is now thought of their pages."""
        return self._parents.revise(revisions)
