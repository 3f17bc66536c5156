"""Best-first search, greedy: a link is worth what the page it stands on is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage


class BestFirst:
    """Follow the links of the most relevant pages first."""

    merge = Merge.MAX

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link inherits the relevance of the page it stands on."""
        parts = {"page": judgement.relevance}
        return (Candidate(url=link.url, score=judgement.relevance, parts=parts) for link in page.links)
