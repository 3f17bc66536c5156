"""Link priority evaluation, LPE: Lu, Zhan, Zhou and He, Mathematical Problems in Engineering, 2016, algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import StatefulStrategy
from thresher.strategies.evidence.content_block import ContentBlocks
from thresher.strategies.evidence.joint_feature import JointFeature
from thresher.strategies.evidence.tfc import heaviest
from thresher.strategies.evidence.unit_state import UnitTableState
from thresher.topics.profile import TopicProfile


class LinkPriorityEvaluation(StatefulStrategy):
    """Follow all links of blocks that are about the topic, and of other blocks those whose words are.

    Links with neither are dropped, so a crawl may run out of links.

    Term counts are saved with the crawl, and the counts of all workers are added up now and then.

    Args:
        topic_profile: The topic.
        threshold: What the similarity of a block, or of a link's words, to the topic must exceed.
        anchor_weight: The paper's lambda: weight of a link's own words against the words around it.
    """

    def __init__(self, topic_profile: TopicProfile, *, threshold: float = 0.5, anchor_weight: float = 0.5) -> None:
        if not 0 <= anchor_weight <= 1:
            raise ValueError(f"anchor_weight must lie between 0 and 1, got {anchor_weight}")
        topics = heaviest(topic_profile.vectors.values())
        self._threshold = threshold
        self._blocks = ContentBlocks(topics)
        self._links = JointFeature(topics, lambda_=anchor_weight)
        tables = {"blocks": self._blocks.table, "anchors": self._links.anchors, "contexts": self._links.contexts}
        self._state = UnitTableState("lpe", tables)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        sim_cbp = self._blocks.read(page)
        for link, units in zip(page.links, self._links.read(page), strict=True):
            sim_1 = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim_1 > self._threshold:
                yield Candidate(url=link.url, score=sim_1, parts={"block": sim_1})
                continue
            sim = self._links.evaluate(units)
            if sim["joint"] > self._threshold:
                yield Candidate(url=link.url, score=sim["joint"], parts={"block": sim_1, **sim})
        self._state.page_done()
