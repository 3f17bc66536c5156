"""Link priority evaluation, LPE: Lu, Zhan, Zhou and He, Mathematical Problems in Engineering, 2016, algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator

from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.strategies.base import StatefulStrategy
from thresher.topics.profile import TopicProfile
from thresher_papers.strategies.evidence.content_block import ContentBlocks
from thresher_papers.strategies.evidence.example_topic import ExampleTopic
from thresher_papers.strategies.evidence.joint_feature import JointFeature
from thresher_papers.strategies.evidence.tfc import TOPIC_TERMS
from thresher_papers.strategies.evidence.unit_state import UnitTableState


class LinkPriorityEvaluation(StatefulStrategy):
    """Follow all links of blocks that are about the topic, and of other blocks those whose words are.

    Links with neither are dropped, so a crawl may run out of links; with ``drop: false`` they wait behind all others.

    The topic is described by its labels and, once they are fetched, by the pages of ``examples.yes``. Term counts are
    saved with the crawl, and the counts of all workers are added up now and then.

    Args:
        topic_profile: The topic.
        threshold: What the similarity of a block, or of a link's words, to the topic must exceed.
        anchor_weight: The paper's lambda: weight of a link's own words against the words around it.
        drop: Whether links at or below the threshold are dropped, as in the paper.
        topic_terms: Terms of a topic vector; the more, the less similar is an anchor of a few words.
    """

    def __init__(
        self,
        topic_profile: TopicProfile,
        *,
        threshold: float = 0.5,
        anchor_weight: float = 0.5,
        drop: bool = True,
        topic_terms: int = TOPIC_TERMS,
    ) -> None:
        if not 0 <= anchor_weight <= 1:
            raise ValueError(f"anchor_weight must lie between 0 and 1, got {anchor_weight}")
        if topic_terms < 1:
            raise ValueError(f"topic_terms must be at least 1, got {topic_terms}")
        self._threshold = threshold
        self._drop = drop
        self._topic = ExampleTopic(list(topic_profile.vectors.values()), topic_profile.yes, topic_terms)
        self._blocks = ContentBlocks(self._topic.vectors)
        self._links = JointFeature(self._topic.vectors, lambda_=anchor_weight)
        tables = {"blocks": self._blocks.table, "anchors": self._links.anchors, "contexts": self._links.contexts}
        self._state = UnitTableState("lpe", {**tables, "examples": self._topic.pages})

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        self._topic.read(page, self._blocks.table)
        sim_cbp = self._blocks.read(page)
        for link, units in zip(page.links, self._links.read(page), strict=True):
            sim_1 = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim_1 > self._threshold:
                yield Candidate(url=link.url, score=sim_1, breakdown={"block": sim_1})
                continue
            sim = self._links.evaluate(units)
            if sim["joint"] > self._threshold or not self._drop:
                yield Candidate(url=link.url, score=sim["joint"], breakdown={"block": sim_1, **sim})
        self._state.page_done()
