"""Content block partition alone, CBP: the strongest baseline of LPE, section 6.2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thresher.classify.base import Notebook
from thresher.records import Candidate, Judgement, Lease, Merge, ParsedPage
from thresher.strategies.aim import Aim
from thresher.strategies.evidence.content_block import ContentBlocks
from thresher.strategies.evidence.tfc import heaviest
from thresher.strategies.evidence.unit_notes import UnitNotes


class ContentBlockPartition:
    """Follow the links of blocks that are about the topic, and drop all others.

    The words that were counted are saved with the crawl, and the counts of all workers are added up every now and then.

    Args:
        aim: The topic.
        threshold: What the likeness of a block must exceed.
    """

    merge = Merge.MAX

    def __init__(self, aim: Aim, *, threshold: float = 0.5) -> None:
        self._threshold = threshold
        self._blocks = ContentBlocks(heaviest(aim.vectors.values()))
        self._notes = UnitNotes("cbp", {"blocks": self._blocks.table})

    def seeds(self, urls: Sequence[str]) -> Iterator[Candidate]:
        """Seeds start on top."""
        return (Candidate(url=url, score=1.0) for url in urls)

    def score(self, page: ParsedPage, judgement: Judgement, lease: Lease) -> Iterator[Candidate]:
        """Give links the likeness of their block."""
        sim_cbp = self._blocks.read(page)
        for link in page.links:
            sim = sim_cbp[link.block] if link.block < len(sim_cbp) else 0.0
            if sim > self._threshold:
                yield Candidate(url=link.url, score=sim, parts={"block": sim})
        self._notes.page_done()

    def keep_in(self, notebook: Notebook) -> None:
        """Go on with the words that were counted before."""
        self._notes.keep_in(notebook)

    def write_down(self) -> None:
        """Write down the words that were counted."""
        self._notes.write_down()
