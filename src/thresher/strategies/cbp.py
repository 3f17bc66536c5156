"""Content block partition alone, CBP: the strongest baseline of LPE, section 6.2."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import StatefulStrategy
from thresher.strategies.evidence.content_block import ContentBlocks
from thresher.strategies.evidence.tfc import heaviest
from thresher.strategies.evidence.unit_state import UnitTableState
from thresher.topics.profile import TopicProfile


class ContentBlockPartition(StatefulStrategy):
    """Follow the links of blocks that are about the topic, and drop all others.

    Term counts are saved with the crawl, and the counts of all workers are added up now and then.

    Args:
        topic_profile: The topic.
        threshold: What the similarity of a block to the topic must exceed.
    """

    def __init__(self, topic_profile: TopicProfile, *, threshold: float = 0.5) -> None:
        self._threshold = threshold
        self._blocks = ContentBlocks(heaviest(topic_profile.vectors.values()))
        self._state = UnitTableState("cbp", {"blocks": self._blocks.table})

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        sim_cbp = self._blocks.read(page)
        for link in page.links:
            sim = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim > self._threshold:
                yield Candidate(url=link.url, score=sim, parts={"block": sim})
        self._state.page_done()
