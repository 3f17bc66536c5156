"""Joint feature evaluation, JFE: a link's own words and the words around it; LPE, section 4.1, equation 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import Vector
from thresher_papers.strategies.evidence.tfc import UnitTable

REMEMBERED_ANCHORS = 1 << 13
"""Size of the cache of anchors, which repeat; contexts do not."""

Units = tuple[Mapping[str, int], Mapping[str, int]]
"""The terms of an anchor, and of the words around it."""


class JointFeature:
    """The anchors and contexts of all links so far, and their similarity to the topic.

    Args:
        topics: The topic's vectors.
        lambda_: Weight of the anchor against the context.
    """

    def __init__(self, topics: Sequence[Vector], *, lambda_: float = 0.5) -> None:
        self.anchors, self.contexts = UnitTable(topics), UnitTable(topics)
        self._topics = topics
        self._lambda = lambda_
        self._terms = lru_cache(maxsize=REMEMBERED_ANCHORS)(count)

    def read(self, page: ParsedPage) -> Sequence[Units]:
        """Count the terms of a page's links, without empty ones; return the terms of each link."""
        units = [(self._terms(link.anchor, page.language), count(link.context, page.language)) for link in page.links]
        self.anchors.add(anchor for anchor, _ in units if anchor)
        self.contexts.add(context for _, context in units if context)
        return units

    def evaluate(self, units: Units) -> Mapping[str, float]:
        """Return Sim_anchor, Sim_context and Sim_JFE of a link as ``anchor``, ``context`` and ``joint``."""
        anchor, context = units
        sim_anchor = self.anchors.similarity(anchor, self._topics)
        sim_context = self.contexts.similarity(context, self._topics)
        sim_jfe = self._lambda * sim_anchor + (1 - self._lambda) * sim_context
        return {"anchor": sim_anchor, "context": sim_context, "joint": sim_jfe}
