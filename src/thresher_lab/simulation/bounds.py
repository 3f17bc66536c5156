"""Upper bounds of crawls below the oracle: crawls that know labels, but not the graph ahead.

=================  ====================================================================================
labels-known       knows the label of every URL it has found
reads-paragraph    has read the title and the first paragraph of every page it has found
reads-link-text    has read the text of the links to every page it has found
=================  ====================================================================================

The two readers have the labels of all other pages of the web to learn from. Seeds are fetched first; dead links are
not in the graph, so they are never fetched. A page's label counts for the pages it links to once it is fetched.
Constants were chosen on the dev topics of wikispeedia.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from thresher.linkgraph import LinkGraph, Mask, Numbers, Pages
from thresher_lab.simulation.text_predictions import Floats, TextPredictions

LABELS_KNOWN, READS_PARAGRAPH, READS_LINK_TEXT = "labels-known", "reads-paragraph", "reads-link-text"
BOUNDS = (LABELS_KNOWN, READS_PARAGRAPH, READS_LINK_TEXT)

PARAGRAPH_WEIGHT, LINK_TEXT_WEIGHT, TERMS_WEIGHT = 1.0, 2.5, 10.0
"""Of the share of relevant parents against a prediction in units of its standard deviation: the less a text reveals,
the more. The last one is for link text without word vectors."""

ParentScore = Callable[[Floats, Floats], Floats]
"""Score of pages by the numbers of their relevant and of all their fetched parents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundCrawl:
    """The fetches of a bound, in order.

    Args:
        pages: The page of each fetch.
        hits: Whether it is a target.
    """

    pages: Numbers
    hits: Mask


class Bounds:
    """The three bounds on one web."""

    def __init__(self, texts: TextPredictions) -> None:
        self._texts = texts

    def crawl(
        self, bound: str, graph: LinkGraph, labels: Pages, targets: Pages, seeds: Pages, budget: int
    ) -> BoundCrawl:
        """Crawl a web by the knowledge of a bound.

        Args:
            bound: Its name.
            graph: The links of the web, without pages that are set aside.
            labels: All pages of the topic, those set aside too.
            targets: The pages of the topic that can be hits.
            seeds: The pages that are fetched first.
            budget: The largest number of fetches.
        """
        is_labelled, is_target = graph_mask(graph, labels), graph_mask(graph, targets)
        worth, parents = _KNOWLEDGE[bound](self._texts, is_labelled)
        pages = greedy_fetches(graph, is_target, seeds, budget, worth=worth, parents=parents)
        return BoundCrawl(pages=pages, hits=is_target[pages])


def graph_mask(graph: LinkGraph, pages: Pages) -> Mask:
    """Return whether each page of a graph is one of some pages."""
    mask = np.zeros(graph.page_count, dtype=np.bool_)
    mask[graph.numbers(pages)] = True
    return mask


def greedy_fetches(
    graph: LinkGraph, is_target: Mask, seeds: Pages, budget: int, *, worth: Floats, parents: ParentScore
) -> Numbers:
    """Fetch the seeds, then always the found page of the highest score; of equal ones the lowest number.

    Args:
        graph: The links, followed from fetched pages alone.
        is_target: The labels; of a page that is not fetched they are not used.
        seeds: The pages that are fetched first.
        budget: The largest number of fetches.
        worth: What is known of each page beside its parents; used once the page is found.
        parents: Score by fetched parents, which is added.

    Raises:
        ValueError: The budget is below 1.
    """
    if budget < 1:
        raise ValueError(f"the budget must be at least 1 fetch, got {budget}")
    relevant, linking = np.zeros(graph.page_count), np.zeros(graph.page_count)
    is_fetched = np.zeros(graph.page_count, dtype=np.bool_)
    fetches: list[int] = []

    def fetch(page: int) -> None:
        fetches.append(page)
        is_fetched[page] = True
        linked = graph.successors(page)
        linking[linked] += 1
        relevant[linked] += is_target[page]

    for seed in graph.numbers(seeds)[:budget].tolist():
        fetch(seed)
    while len(fetches) < budget:
        found = np.flatnonzero((linking > 0) & ~is_fetched)
        if not found.size:
            break
        fetch(int(found[np.argmax(worth[found] + parents(relevant[found], linking[found]))]))
    return np.array(fetches, dtype=np.int32)


def hub_score(relevant: Floats, linking: Floats) -> Floats:
    """Relevant parents / √(parents + 1): while no target is known, many relevant parents suggest a hub."""
    score: Floats = relevant / np.sqrt(linking + 1)
    return score


def weighted_share(weight: float) -> ParentScore:
    """Weight · relevant parents / (parents + 1)."""
    return lambda relevant, linking: weight * relevant / (linking + 1)


Knowledge = tuple[Floats, ParentScore]
"""The worth of each page, and the score of its parents."""


def _known_labels(texts: TextPredictions, labels: Mask) -> Knowledge:
    return np.where(labels, np.float64(labels.size), 0.0), hub_score  # above all that parents can add


def _read_paragraphs(texts: TextPredictions, labels: Mask) -> Knowledge:
    return _scaled(texts.by_paragraph.predict(labels)), weighted_share(PARAGRAPH_WEIGHT)


def _read_link_text(texts: TextPredictions, labels: Mask) -> Knowledge:
    weight = LINK_TEXT_WEIGHT if texts.has_word_vectors else TERMS_WEIGHT
    return _scaled(texts.by_link_text.predict(labels)), weighted_share(weight)


def _scaled(predictions: Floats) -> Floats:
    scaled: Floats = predictions / max(float(predictions.std()), 1e-9)
    return scaled


_KNOWLEDGE: Mapping[str, Callable[[TextPredictions, Mask], Knowledge]] = {
    LABELS_KNOWN: _known_labels,
    READS_PARAGRAPH: _read_paragraphs,
    READS_LINK_TEXT: _read_link_text,
}
