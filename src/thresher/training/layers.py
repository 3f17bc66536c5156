"""Training of layers for a crawl, into its folder of trained models; and which strategies need training."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thresher.strategies.layers.learn import LearnedLayers
    from thresher.strategies.layers.source import TrainingSource

LAYERED = ("context-graph", "layers")
"""Strategies that need layers; one training serves both."""

RULED = ("rules",)
"""Strategies that need interclass rules, and a classifier of pages."""

TRAINED = (*LAYERED, *RULED)


def needs_training(strategy: str) -> bool:
    """Return whether a strategy must be trained before it can crawl."""
    return strategy in TRAINED


def train_layers(source: TrainingSource, targets: Iterable[int], folder: Path) -> LearnedLayers:
    """Learn layers around the targets, and save them in a folder.

    Raises:
        ConfigError: There are too few pages.
    """
    from thresher.judges.persistence.files import Training
    from thresher.strategies.layers.learn import learn_layers  # here: only training needs scikit-learn

    learned = learn_layers(source, targets)
    folder.mkdir(parents=True, exist_ok=True)
    learned.model.save(folder, Training(examples=sum(layer.pages for layer in learned.layers)))
    return learned
