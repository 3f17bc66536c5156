"""Training of layers for a crawl, into its folder of trained models; and which strategies need training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.records import ParsedPage
from thresher_papers.training.quality import ModelQuality, cross_validate

if TYPE_CHECKING:
    from thresher_papers.strategies.layers.learn import LearnedLayers
    from thresher_papers.strategies.layers.source import TrainingSource

LAYERED = ("context-graph", "layers")
"""Strategies that need layers; one training serves both."""

RULED = ("rules",)
"""Strategies that need interclass rules, and a classifier of pages."""

TRAINED = (*LAYERED, *RULED)

OTHER = "other"
"""The predicted layer of a page that the model assigns to none."""


def needs_training(strategy: str) -> bool:
    """Return whether a strategy must be trained before it can crawl."""
    return strategy in TRAINED


def train_layers(
    source: TrainingSource, targets: Iterable[int], folder: Path, *, N: int | None = None, random_state: int = 0
) -> LearnedLayers:
    """Learn layers around the targets, and save them in a folder.

    Args:
        N: The last layer; by default the paper's.

    Raises:
        ConfigError: There are too few pages.
    """
    from thresher_papers.judges.persistence.files import Training
    from thresher_papers.strategies.layers.context_graphs import LAST_LAYER
    from thresher_papers.strategies.layers.learn import learn_layers  # here: only training needs scikit-learn

    learned = learn_layers(source, targets, N=LAST_LAYER if N is None else N, random_state=random_state)
    folder.mkdir(parents=True, exist_ok=True)
    learned.model.save(folder, Training(examples=sum(layer.pages for layer in learned.layers)))
    return learned


def layer_quality(
    source: TrainingSource,
    learned: LearnedLayers,
    *,
    host_of: Callable[[int], str] = lambda _: "",
    random_state: int = 0,
) -> ModelQuality:
    """Cross-validate the classifier of layers on its training pages; a page that it rejects counts as `OTHER`."""
    from thresher_papers.strategies.layers.learn import fit_layers
    from thresher_papers.strategies.layers.model import LayerModel

    pages = [ParsedPage(url="", text=source.text(page)) for page, _ in learned.examples]
    layers, N = [layer for _, layer in learned.examples], learned.model.N

    def predict(others: Sequence[int], held_out: Sequence[int]) -> list[str]:
        texts, known = [pages[place].text for place in others], [layers[place] for place in others]
        if len(set(known)) < 2:
            return [str(known[0])] * len(held_out)
        model = LayerModel(N, *fit_layers(texts, known, random_state), {})
        found = (model.layer_of(pages[place])[0] for place in held_out)
        return [str(layer) if layer <= N else OTHER for layer in found]

    hosts = [host_of(page) for page, _ in learned.examples]
    return cross_validate(list(map(str, layers)), predict, hosts=hosts, random_state=random_state)
