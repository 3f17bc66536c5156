"""Hard focus: Chakrabarti, van den Berg and Dom, WWW8, 1999; the stricter variant of the baseline of RULES."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher_papers.strategies.soft_focus import SoftFocus


class HardFocus(SoftFocus):
    """Follow the links of relevant pages only, those of the likeliest pages first.

    The judge decides whether a page is relevant; the judge ``taxonomy-hard`` uses the paper's criterion. Links that
    were pruned stay pruned when a judgement is revised.
    """

    def __init__(self) -> None:
        super().__init__()  # without the parameter `distill`

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        return super().score(page, judgement, lease) if judgement.relevant else iter(())
