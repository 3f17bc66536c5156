"""Best-first search: a link is worth what the page it stands on is worth; SURVEY, figure 3, and FCMRPS 5.2.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.generations import fold, generation_of, next_generation
from thresher.strategies.parents import Parents

BATCHES = ("none", "all")


class BestFirst:
    """Follow the links of the most relevant pages first.

    Args:
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched, and then go best first.
    """

    merge = Merge.MAX

    def __init__(self, *, batch: str = "none") -> None:
        if batch not in BATCHES:
            raise ValueError(f"batch must be {' or '.join(BATCHES)}, got {batch!r}")
        self._in_generations = batch == "all"
        self._parents = Parents(max)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Every link inherits the relevance of the page it stands on."""
        return (self._in_order if self._in_generations else self._greedy)(page, judgement.relevance, lease)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links inherit what is now thought of their pages; a generation once sorted keeps its order."""
        return self._parents.revise(revisions)

    def _greedy(self, page: ParsedPage, relevance: float, lease: Lease) -> Iterator[Candidate]:
        self._parents.add(page.url, relevance, (link.url for link in page.links))
        parts = {"page": relevance}
        return (Candidate(url=link.url, score=relevance, parts=parts) for link in page.links)

    def _in_order(self, page: ParsedPage, relevance: float, lease: Lease) -> Iterator[Candidate]:
        carry = next_generation(lease)
        parts = {"page": relevance, "generation": float(generation_of(carry))}
        score = fold(generation_of(carry), relevance)
        return (Candidate(url=link.url, score=score, parts=parts, carry=carry) for link in page.links)
