"""Best-first search: a link is worth what the page it stands on is worth; SURVEY, figure 3, and FCMRPS 5.2.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.generations import BELOW_ONE, fold, generation_of, next_generation
from thresher.strategies.parents import Parents

BATCHES = ("none", "all")


class BestFirst:
    """Follow the links of the most relevant pages first.

    Args:
        batch: ``none`` follows the best link of all that wait. ``all`` reads the figure by its letter: links wait until
            all that were found before them are fetched, and then go best first. With a number, links wait until the
            ready queue is empty, and then so many of the best move into it.
    """

    merge = Merge.MAX

    def __init__(self, *, batch: str | int = "none") -> None:
        if batch not in BATCHES and not (isinstance(batch, int) and batch > 0):
            raise ValueError(f"batch must be {' or '.join(BATCHES)} or a number above 0, got {batch!r}")
        self.batch_size = batch if isinstance(batch, int) else 0
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
        changes = self._parents.revise(revisions)
        place = self._place
        return {url: Change(place(change.was), place(change.now)) for url, change in changes.items()}

    def _greedy(self, page: ParsedPage, relevance: float, lease: Lease) -> Iterator[Candidate]:
        self._parents.add(page.url, relevance, (link.url for link in page.links))
        parts = {"page": relevance}
        score = self._place(relevance)
        return (Candidate(url=link.url, score=score, parts=parts) for link in page.links)

    def _in_order(self, page: ParsedPage, relevance: float, lease: Lease) -> Iterator[Candidate]:
        carry = next_generation(lease)
        parts = {"page": relevance, "generation": float(generation_of(carry))}
        score = fold(generation_of(carry), relevance)
        return (Candidate(url=link.url, score=score, parts=parts, carry=carry) for link in page.links)

    def _place(self, relevance: float) -> float:
        """Put links that wait for a batch below 0, and others where they are worth."""
        return min(relevance, BELOW_ONE) - 1 if self.batch_size else relevance
