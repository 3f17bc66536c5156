"""The ranked dump of LAYERS: all fetched pages, those first that most likely are targets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.layers.ranking import target_probability

RANKS = (1, 501, 1003, 1023)
"""The ranks that the paper shows."""
PLACES = (10, 20, 50, 100, 200, 500, 1000)
"""Further ranks, so that there is a curve."""


def ranked_hits(
    model: LayerModel, found: Sequence[tuple[str, bool]], similarity: Callable[[str], float]
) -> dict[str, list[int]]:
    """Rank pages by P(layer 0 | page), then by similarity to the topic, and count hits among the first k.

    Args:
        model: The layers.
        found: The text of every page, and whether it is a hit.
        similarity: Of a text to the topic.

    Returns:
        For each k up to the length of the dump: hits among the first k, and the maximum possible.
    """
    keys = [(-target_probability(model, text), -similarity(text)) for text, _ in found]
    ranked = [found[place][1] for place in sorted(range(len(found)), key=keys.__getitem__)]
    places = [k for k in sorted({*RANKS, *PLACES}) if k <= len(found)]
    return {str(k): [sum(ranked[:k]), min(k, sum(ranked))] for k in places}
