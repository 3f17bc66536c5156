"""What was learned from context graphs: how far pages are from a target, and which anchors lead how near.

LAYERS: Tsay, Liu, Lai and Shin, Design and evaluation of focused crawling system, sections 3.2 and 3.3. Layer i are
the pages that are i links away from a target, L_i the links into layer i; N + 1 stands for all that is farther away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from thresher.classify.saved import Training, load, save
from thresher.classify.scorer import PlainScorer
from thresher.errors import ConfigError, ThresherError
from thresher.records import ParsedPage
from thresher.text.tokens import count
from thresher.text.vectors import unit

FILE = "layers.json"
CLASSIFIER = "layers"
"""The folder of the classifier of pages, beside the file."""
FORMAT = 1
REMEMBERED_ANCHORS = 1 << 15


@dataclass(frozen=True)
class LayerModel:
    """Tells the layer of a page by its words, and that of a link by its anchor.

    Args:
        N: The last layer.
        scorer: Gives a page's terms the probability of each layer.
        threshold: A page whose likeliest layer is less likely belongs to none.
        anchors: For each term its weight in L_0 to L_{N+1}: the mean of their anchors' unit vectors.
    """

    N: int
    scorer: PlainScorer
    threshold: float
    anchors: Mapping[str, Sequence[float]]

    def layer_of(self, page: ParsedPage) -> tuple[int, float]:
        """Give the likeliest layer of a page and its probability; N + 1 when that is too small."""
        probabilities = self.scorer.probabilities(count(page.text))
        k = max(probabilities, key=probabilities.__getitem__)
        return (k if probabilities[k] >= self.threshold else self.N + 1), probabilities[k]

    def link_layer(self, anchor: str) -> tuple[int, float]:
        """Give ``i = argmax sim(h, L_i)`` and that similarity; N + 1 and 0 for an anchor that is like none."""
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
        """Write the model into a folder; the file that names it comes last."""
        save(self.scorer, folder / CLASSIFIER, training)
        content = {"format": FORMAT, "N": self.N, "threshold": self.threshold, "anchors": self.anchors}
        beside = folder / f".{FILE}.{os.getpid()}"
        beside.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8", errors="replace")
        beside.replace(folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> LayerModel:
        """Read the model of a folder; nothing in it is run.

        Raises:
            ThresherError: It is missing, damaged or newer than this program.
        """
        try:
            content = json.loads((folder / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ThresherError(f"no layers can be read from {folder / FILE}: {error}") from error
        if not _is_whole(content):
            raise ThresherError(f"{folder / FILE} holds no layers that this program knows; train again")
        scorer = load(folder / CLASSIFIER)
        N = content["N"]
        if not isinstance(scorer, PlainScorer) or not set(scorer.labels) <= set(range(N + 1)):
            raise ThresherError(f"{folder / CLASSIFIER} is no classifier of layers 0 to {N}; train again")
        return cls(N, scorer, content["threshold"], content["anchors"])


def load_layers(folder: Path | None, strategy: str) -> LayerModel:
    """Load what a strategy needs.

    Raises:
        ConfigError: Nothing was trained.
        ThresherError: What was trained cannot be used.
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
