"""Share of relevant parents: a link is worth the share of relevant pages among all that link to it.

A strong baseline that no paper of ours names. Each page adds its verdict to the mean score of the URLs it links to, so
the frontier itself keeps the share (merge ``mean``) and no worker has to remember a graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.parents import Parents


class RelevantParents:
    """Follow links whose known parents are mostly relevant.

    The frontier keeps the share, for all workers. Which pages link where is remembered for second thoughts of the judge
    only; each worker knows its own pages, and after a restart those that the best of what waits was found on.
    """

    merge = Merge.MEAN

    def __init__(self) -> None:
        self._parents = Parents(fmean)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Add this page's verdict to what its links' other parents said."""
        share = judgement.reward
        self._parents.add(page.url, share, (link.url for link in page.links))
        parts = {"this parent": share}
        return (Candidate(url=link.url, score=share, parts=parts) for link in page.links)

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember where a page of an earlier run links."""
        self._parents.recall(page.url, judgement.reward, (link.url for link in page.links), waiting)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Take the mean anew over what is now thought of the parents."""
        return self._parents.revise(revisions)
