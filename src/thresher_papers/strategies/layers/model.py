"""The trained model of context graphs: predicts how far pages are from a target, and where anchors lead.

LAYERS: Tsay, Liu, Lai and Shin, Design and evaluation of focused crawling system, sections 3.2 and 3.3. Layer i are
the pages that are i links away from a target, L_i the links into layer i; N + 1 is everything farther away.

Queues by distance from the topic are folded into the one number that the frontier orders by. Queue k holds links of
pages that are k links away from a target, N + 1 those of all others. The first queue that is not empty is served first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from thresher.errors import ConfigError, ThresherError
from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import unit
from thresher_papers.judges.persistence.files import Training, load, save
from thresher_papers.judges.persistence.scorer import PlainScorer

BELOW_ONE = 0.999_999
"""Keeps a value of 1 from reaching the queue before."""

SEED_SCORE = 1.0
"""Above every queue: seeds were chosen by the user."""


def queue_score(k: int, N: int, within: float = 0.0) -> float:
    """Return the score of a link in queue k, by a value from 0 to 1 within the queue; from 0 to below 1."""
    return (N + 1 - k + min(within, BELOW_ONE)) / (N + 2)


def layered_score(k: int, i: int, sim: float, N: int) -> float:
    """Return the score of a link in queue k that is most similar to the links into layer i; from 0 to below 1.

    Within the queue lower layers come first, within a layer the greater similarity.
    """
    return ((N + 1 - k) * (N + 2) + (N + 1 - i) + min(sim, BELOW_ONE)) / (N + 2) ** 2


FILE = "layers.json"
CLASSIFIER = "layers"
"""The folder of the classifier of pages, beside the file."""
FORMAT = 1
REMEMBERED_ANCHORS = 1 << 15


@dataclass(frozen=True)
class LayerModel:
    """Predicts the layer of a page by its text, and that of a link by its anchor.

    Args:
        N: The last layer.
        scorer: Predicts the probability of each layer for the terms of a page.
        threshold: A page whose likeliest layer is less likely belongs to none.
        anchors: For each term its weight in L_0 to L_{N+1}: the mean of their anchors' unit vectors.
    """

    N: int
    scorer: PlainScorer
    threshold: float
    anchors: Mapping[str, Sequence[float]]

    def layer_of(self, page: ParsedPage) -> tuple[int, float]:
        """Return the likeliest layer of a page and its probability; layer N + 1 when that is below the threshold."""
        probabilities = self.scorer.probabilities(count(page.text))
        k = max(probabilities, key=probabilities.__getitem__)
        return (k if probabilities[k] >= self.threshold else self.N + 1), probabilities[k]

    def link_layer(self, anchor: str) -> tuple[int, float]:
        """Return ``i = argmax sim(h, L_i)`` and that similarity; N + 1 and 0 for an anchor similar to none."""
        return self._link_layer(anchor)

    @cached_property
    def _link_layer(self) -> Callable[[str], tuple[int, float]]:
        return lru_cache(maxsize=REMEMBERED_ANCHORS)(self._compare)

    def _compare(self, anchor: str) -> tuple[int, float]:
        """The mean cosine with all anchors of a layer is the product of unit vector and mean unit vector."""
        similarities = [0.0] * (self.N + 2)
        for term, weight in unit(count(anchor)).items():
            for i, mean in enumerate(self.anchors.get(term, ())):
                similarities[i] += weight * mean
        sim = max(similarities)
        return (similarities.index(sim), sim) if sim > 0 else (self.N + 1, 0.0)

    def save(self, folder: Path, training: Training | None = None) -> None:
        """Save the model to a folder; the file that makes it valid is written last."""
        save(self.scorer, folder / CLASSIFIER, training)
        content = {"format": FORMAT, "N": self.N, "threshold": self.threshold, "anchors": self.anchors}
        temporary = folder / f".{FILE}.{os.getpid()}"
        temporary.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8", errors="replace")
        temporary.replace(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> LayerModel:
        """Load the model of a folder; no code in it is executed.

        Raises:
            ThresherError: It is missing, damaged or newer than this program.
        """
        try:
            content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ThresherError(
                f"no layers can be read from {folder / FILE}: {error}; train again: thresher train DIR"
            ) from error
        if not _is_whole(content):
            raise ThresherError(f"{folder / FILE} holds no layers that this program knows; train again")
        scorer = load(folder / CLASSIFIER)
        N = content["N"]
        if not isinstance(scorer, PlainScorer) or not set(scorer.labels) <= set(range(N + 1)):
            raise ThresherError(f"{folder / CLASSIFIER} is no classifier of layers 0 to {N}; train again")
        return cls(N, scorer, content["threshold"], content["anchors"])


def load_layers(folder: Path | None, strategy: str) -> LayerModel:
    """Load the trained model of a strategy.

    Raises:
        ConfigError: There is none.
        ThresherError: It cannot be used.
    """
    if folder is None or not (folder / FILE).is_file():
        crawl = folder.parent.parent if folder else "DIR"
        raise ConfigError(
            f"strategy {strategy} must first learn how far pages are from the topic: thresher train {crawl}"
        )
    return LayerModel.load(folder)


def _is_whole(content: Any) -> bool:
    return (
        isinstance(content, dict)
        and content.get("format") == FORMAT
        and type(N := content.get("N")) is int
        and N >= 0
        and isinstance(content.get("threshold"), float)
        and isinstance(anchors := content.get("anchors"), dict)
        and all(_are_weights(row, N + 2) for row in anchors.values())
    )


def _are_weights(row: Any, number: int) -> bool:
    return isinstance(row, list) and len(row) == number and all(isinstance(weight, int | float) for weight in row)
