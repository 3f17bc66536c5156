"""Breadth-first: first in, first out; what every focused crawler must beat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage


class BreadthFirst:
    """Follow links in the order in which they were found."""

    merge = Merge.FIRST

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds are the oldest, so they come first."""
        return (Candidate(url=url, score=0.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """All links are equal; the frontier hands out equals by age."""
        return (Candidate(url=link.url, score=0.0) for link in page.links)
