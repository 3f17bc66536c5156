"""Page and anchor in equal parts: the priority that LPE starts from, equation 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim


class PageAnchor:
    """Follow links by the likeness of all pages they stand on, and by that of their own words.

    Args:
        aim: The topic.
    """

    merge = Merge.MEAN
    """The equation takes the mean over all pages that hold the link; the frontier keeps it."""

    def __init__(self, aim: Aim) -> None:
        self._sim = aim.likeness

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Add this page's share to what the other pages with these links said."""
        sim_page = self._sim(page.text)
        for link in page.links:
            sim_anchor = self._sim(link.anchor)
            priority = 0.5 * sim_page + 0.5 * sim_anchor
            yield Candidate(url=link.url, score=priority, parts={"page": sim_page, "anchor": sim_anchor})
