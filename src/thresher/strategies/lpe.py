"""Link priority evaluation, LPE: Lu, Zhan, Zhou and He, Mathematical Problems in Engineering, 2016, algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.classify.base import Notebook
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.evidence.content_block import ContentBlocks
from thresher.strategies.evidence.joint_feature import JointFeature
from thresher.strategies.evidence.tfc import heaviest
from thresher.strategies.evidence.unit_notes import UnitNotes


class LinkPriorityEvaluation:
    """Follow all links of blocks that are about the topic, and of other blocks those whose words are.

    Links that neither their block nor their words speak for are dropped, so a crawl may run dry.

    The words that were counted are saved with the crawl, and the counts of all workers are added up every now and then.

    Args:
        aim: The topic.
        threshold: What the likeness of a block, or of a link's words, must exceed.
        anchor_weight: The paper's lambda: weight of a link's own words against the words around it.
    """

    merge = Merge.MAX

    def __init__(self, aim: Aim, *, threshold: float = 0.5, anchor_weight: float = 0.5) -> None:
        if not 0 <= anchor_weight <= 1:
            raise ValueError(f"anchor_weight must lie between 0 and 1, got {anchor_weight}")
        topics = heaviest(aim.vectors.values())
        self._threshold = threshold
        self._blocks = ContentBlocks(topics)
        self._links = JointFeature(topics, lambda_=anchor_weight)
        tables = {"blocks": self._blocks.table, "anchors": self._links.anchors, "contexts": self._links.contexts}
        self._notes = UnitNotes("lpe", tables)

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give links the likeness of their block, or else of their words."""
        sim_cbp = self._blocks.read(page)
        for link, units in zip(page.links, self._links.read(page), strict=True):
            sim_1 = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim_1 > self._threshold:
                yield Candidate(url=link.url, score=sim_1, parts={"block": sim_1})
                continue
            sim = self._links.evaluate(units)
            if sim["joint"] > self._threshold:
                yield Candidate(url=link.url, score=sim["joint"], parts={"block": sim_1, **sim})
        self._notes.page_done()

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the words that were counted before."""
        self._notes.keep_in(notebook)

    def write_down(self) -> None:
        """Write down the words that were counted."""
        self._notes.write_down()
