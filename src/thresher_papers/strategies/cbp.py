"""Content block partition alone, CBP: the strongest baseline of LPE, section 6.2."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import StatefulStrategy
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.content_block import ContentBlocks
from thresher_papers.strategies.evidence.example_topic import ExampleTopic
from thresher_papers.strategies.evidence.tfc import TOPIC_TERMS
from thresher_papers.strategies.evidence.unit_state import UnitTableState


class ContentBlockPartition(StatefulStrategy):
    """Follow the links of blocks that are about the topic, and drop all others.

    The topic is described by its labels and, once they are fetched, by the pages of ``examples.yes``. Term counts are
    saved with the crawl, and the counts of all workers are added up now and then.

    Args:
        topic_profile: The topic.
        threshold: What the similarity of a block to the topic must exceed.
        drop: Whether links at or below the threshold are dropped, as in the paper; else they wait behind all others.
        topic_terms: Terms of a topic vector.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        threshold: float = 0.5,
        drop: bool = True,
        topic_terms: int = TOPIC_TERMS,
    ) -> None:
        if topic_terms < 1:
            raise ValueError(f"topic_terms must be at least 1, got {topic_terms}")
        self._threshold = threshold
        self._drop = drop
        self._topic = ExampleTopic(list(topic_profile.vectors.values()), topic_profile.yes, topic_terms)
        self._blocks = ContentBlocks(self._topic.vectors)
        self._state = UnitTableState("cbp", {"blocks": self._blocks.table, "examples": self._topic.pages})

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        self._topic.read(page, self._blocks.table)
        sim_cbp = self._blocks.read(page)
        for link in page.links:
            sim = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim > self._threshold or not self._drop:
                yield Candidate(url=link.url, score=sim, breakdown={"block": sim})
        self._state.page_done()
