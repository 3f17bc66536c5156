"""The topic vector from example pages: LPE, section 4.2.

The paper takes the terms that describe some pages of the topic. Example pages are fetched like any other, so they are
counted when they arrive; until then the topic is known by its labels alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import Vector
from thresher_papers.strategies.evidence.tfc import TOPIC_TERMS, UnitTable, heaviest


class ExampleTopic:
    """The topic's vectors: those of its labels, and one of the example pages once there are some.

    Args:
        labels: The vectors of the labels; the heaviest terms of each count.
        urls: The example pages.
        most_terms: Terms of a vector.
    """

    def __init__(self, labels: Sequence[Vector], urls: Collection[str] = (), most_terms: int = TOPIC_TERMS) -> None:
        self.vectors: list[Vector] = heaviest(labels, most_terms)
        self.pages = UnitTable()
        self._labels = len(self.vectors)
        self._urls = urls
        self._most_terms = most_terms
        self._known = 0

    def read(self, page: ParsedPage, table: UnitTable) -> None:
        """Count a page if it is an example; `table` tells how rare terms are on the web."""
        if page.url in self._urls:
            self.pages.add([count(page.text, page.language)])
        if self.pages.units == self._known:
            return
        self._known = self.pages.units
        shares = self.pages.shares()
        best = sorted(table.weigh(shares).items(), key=lambda item: (-item[1], item[0]))[: self._most_terms]
        self.vectors[self._labels :] = [{term: shares[term] for term, _ in best}]
