"""Relevance by the content block of a link: LPE, section 4.2."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import Vector
from thresher_papers.strategies.evidence.tfc import UnitTable


class ContentBlocks:
    """The blocks of all pages so far, and their similarity to the topic.

    Args:
        topics: The topic's vectors.
    """

    def __init__(self, topics: Sequence[Vector]) -> None:
        self.table = UnitTable(topics)
        self._topics = topics

    def read(self, page: ParsedPage) -> list[float]:
        """Count the terms of a page's blocks, then return Sim_CBP of each block."""
        units = [count(block, page.language) for block in page.blocks]
        self.table.add(units)
        return [self.table.similarity(u, self._topics) for u in units]
