"""Ranked output: LAYERS, section 4. The pages of a crawl by the probability that they are of layer 0, the targets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.text.tokens import count
from thresher_papers.strategies.layers.model import LayerModel


def target_probability(model: LayerModel, text: str) -> float:
    """Return P(layer 0 | page)."""
    return float(model.scorer.probabilities(count(text)).get(0, 0.0))


class LayerRankedPages(PageStoreReader):
    """All pages of a crawl, those that are most likely of layer 0 first, and of equal ones the most relevant.

    A page without stored text is ranked by its title.
    """

    def __init__(self, folder: Path, model: LayerModel, *, without_opt_outs: bool = False) -> None:
        super().__init__(folder, without_opt_outs=without_opt_outs)
        self._model = model

    def ranked(
        self, *, min_relevance: float = 0.0, relevant: bool = False, duplicates: bool = False, topic: str = ""
    ) -> Iterator[PageRecord]:
        found = super().ranked(min_relevance=min_relevance, relevant=relevant, duplicates=duplicates, topic=topic)
        records = list(found)
        texts = (self.text(record.fingerprint) or record.title for record in records)
        likely = [target_probability(self._model, text) for text in texts]
        return (records[place] for place in sorted(range(len(records)), key=lambda place: -likely[place]))
