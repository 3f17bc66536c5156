"""Training of layers on context graphs: a classifier of pages, and the mean anchor of the links into each layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from thresher.errors import ConfigError
from thresher.text.tokens import count
from thresher.text.vectors import unit
from thresher_papers.judges.estimators.layers import LayerClassifier
from thresher_papers.judges.estimators.section_counter import SectionCounter
from thresher_papers.judges.persistence.flatten import flatten
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.strategies.layers.context_graphs import LAST_LAYER, context_graph
from thresher_papers.strategies.layers.model import LayerModel
from thresher_papers.strategies.layers.source import TrainingSource

MAX_OUTSIDE = 5_000
"""Links that lead to no layer, L_{N+1}."""
MIN_PAGES = 5
"""A layer of fewer pages cannot be distinguished from the others."""
TOP_TERMS = 10


@dataclass(frozen=True, kw_only=True)
class LayerSummary:
    """A summary of one layer; the one after the last is of links into no layer.

    Args:
        layer: Its number.
        pages: Training pages.
        links: Links into it.
        terms: The terms that distinguish its pages, the strongest first.
    """

    layer: int
    pages: int
    links: int
    terms: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class LearnedLayers:
    """A model, and a summary of its training data.

    Args:
        examples: The training pages, each with its layer.
    """

    model: LayerModel
    layers: Sequence[LayerSummary]
    examples: Sequence[tuple[int, int]] = ()


def learn_layers(
    source: TrainingSource, targets: Iterable[int], *, N: int = LAST_LAYER, random_state: int = 0
) -> LearnedLayers:
    """Train layers 0 to N around the targets.

    Raises:
        ConfigError: There are too few targets, or too few pages that lead to them.
    """
    graph = context_graph(source.graph, targets, N=N, random_state=random_state)
    layers = [layer if len(layer) >= MIN_PAGES else [] for layer in graph.layers]
    if not layers[0]:
        found = len(graph.layers[0])
        raise ConfigError(f"{found} pages of the topic are too few to learn from; {MIN_PAGES} is the least")
    if not any(layers[1:]):
        raise ConfigError("hardly any page links to the pages of the topic: there are no layers to learn")
    anchors, texts = _Anchors(graph.layer_of, N), []
    examples = [(page, number) for number, layer in enumerate(layers) for page in layer]
    for page, _ in examples:
        texts.append(source.text(page))
        anchors.add(source.links(page))
    scorer, threshold = fit_layers(texts, [layer for _, layer in examples], random_state)
    model = LayerModel(N, scorer, threshold, anchors.means())
    summaries = list(_summaries(layers, anchors.links, scorer))
    return LearnedLayers(model=model, layers=summaries, examples=examples)


def fit_layers(texts: Sequence[str], labels: Sequence[int], random_state: int) -> tuple[PlainScorer, float]:
    """Train a classifier of texts by layer; return it with the threshold below which a page belongs to no layer."""
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]

    classifier = LayerClassifier(random_state=random_state)
    pipeline = Pipeline([("counter", SectionCounter()), ("layers", classifier)])
    pipeline.fit(texts, np.array(labels))
    return flatten(pipeline), float(classifier.threshold_)


class _Anchors:
    """Sums of the unit vectors of anchors of links into each layer, without empty ones."""

    def __init__(self, layer_of: Mapping[int, int], N: int) -> None:
        self._layer_of = layer_of
        self._N = N
        self._sums: dict[str, list[float]] = {}
        self.links = [0] * (N + 2)

    def add(self, links: Iterable[tuple[int, str]]) -> None:
        for target, anchor in links:
            i = self._layer_of.get(target, self._N + 1)
            vector = unit(count(anchor))
            if vector and (i <= self._N or self.links[i] < MAX_OUTSIDE):
                self.links[i] += 1
                for term, weight in vector.items():
                    self._sums.setdefault(term, [0.0] * (self._N + 2))[i] += weight

    def means(self) -> dict[str, list[float]]:
        counts = [max(links, 1) for links in self.links]
        return {term: [s / n for s, n in zip(sums, counts, strict=True)] for term, sums in self._sums.items()}


def _summaries(layers: Sequence[Sequence[int]], links: Sequence[int], scorer: PlainScorer) -> Iterator[LayerSummary]:
    for number, layer in enumerate([*layers, []]):
        terms = top_terms(scorer, number) if number in scorer.labels else []
        yield LayerSummary(layer=number, pages=len(layer), links=links[number], terms=terms)


def top_terms(scorer: PlainScorer, label: Any, most: int = TOP_TERMS) -> list[str]:
    """Return the most typical terms of a class: frequent in it, and more so than in the mean of the others."""
    place = scorer.labels.index(label)
    log_p = np.tile(scorer.per_weight, (len(scorer.vocabulary), 1))
    rows = np.repeat(np.arange(len(scorer.vocabulary)), np.diff(scorer.starts))
    log_p[rows, scorer.columns] += scorer.values
    own = log_p[:, place]
    others = (log_p.sum(axis=1) - own) / max(log_p.shape[1] - 1, 1)
    strength = np.exp(own) * (own - others)
    names = list(scorer.vocabulary)
    return [names[row] for row in np.argsort(-strength, kind="stable")[:most] if strength[row] > 0]
