"""Link context only: a baseline of LPE, section 6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim


class ContextOnly:
    """Follow links by how much the words around them sound like the topic; their own words do not count.

    Args:
        aim: The topic.
    """

    merge = Merge.MAX

    def __init__(self, aim: Aim) -> None:
        self._sim = aim.likeness

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give each link the likeness of its context."""
        for link in page.links:
            sim_context = self._sim(link.context)
            yield Candidate(url=link.url, score=sim_context, parts={"context": sim_context})
