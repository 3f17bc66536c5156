"""Hard focus: Chakrabarti, van den Berg and Dom, WWW8, 1999; the stricter sister of the baseline of RULES."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thresher.records import Candidate, Judgement, Lease, ParsedPage, Revision
from thresher.strategies.base import Change
from thresher.strategies.soft_focus import SoftFocus


class HardFocus:
    """Follow the links of relevant pages only, those of the likeliest pages first.

    A page is relevant when the judge says so; the judge ``taxonomy-hard`` asks what the paper asks.
    """

    merge = SoftFocus.merge

    def __init__(self) -> None:
        self._soft_focus = SoftFocus()

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return self._soft_focus.seeds(urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Prune the crawl at an irrelevant page; the links of others are scored as in soft focus."""
        return self._soft_focus.score(page, judgement, lease) if judgement.relevant else iter(())

    def recall(
        self, page: ParsedPage, judgement: Judgement, *, waiting: Mapping[str, float], outcomes: Mapping[str, float]
    ) -> None:
        """Remember where a page of an earlier run links."""
        self._soft_focus.recall(page, judgement, waiting=waiting, outcomes=outcomes)

    def revise(self, revisions: Sequence[Revision]) -> Mapping[str, Change]:
        """Let links follow what is now thought of their pages; what was pruned stays pruned."""
        return self._soft_focus.revise(revisions)
