"""Training for a crawl: what was learned goes into its folder of trained models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from thresher.classify.saved import Training
from thresher.strategies.layering.learn import LearnedLayers, learn_layers
from thresher.strategies.layering.source import Source


def train_layers(source: Source, targets: Iterable[int], folder: Path) -> LearnedLayers:
    """Learn layers around the targets, and write them into a folder.

    Raises:
        ConfigError: There is too little to learn from.
    """
    learned = learn_layers(source, targets)
    folder.mkdir(parents=True, exist_ok=True)
    learned.model.save(folder, Training(examples=sum(layer.pages for layer in learned.layers)))
    return learned
