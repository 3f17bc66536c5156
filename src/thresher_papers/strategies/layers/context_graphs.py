"""Context graphs: the pages from which targets can be reached, layer by layer; LAYERS 3.2, SURVEY 2.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from thresher.linkgraph import LinkGraph

LAST_LAYER = 4
"""The paper's N."""
MAX_BACK_LINKS = 50
"""Of one page: a search engine would return no more, and a page in every menu has thousands."""
MAX_PAGES = 500
"""Of one layer; the paper's largest had 552."""


@dataclass(frozen=True)
class ContextLayers:
    """Pages by their distance to the nearest target.

    Args:
        layers: The pages of each layer, from 0 on, or a random sample of them.
        layer_of: The layer of every page that was found, also of those that are not in the sample.
    """

    layers: Sequence[Sequence[int]]
    layer_of: Mapping[int, int]


def context_graph(
    graph: LinkGraph,
    targets: Iterable[int],
    *,
    N: int = LAST_LAYER,
    most_back_links: int = MAX_BACK_LINKS,
    most_pages: int = MAX_PAGES,
    random_state: int = 0,
) -> ContextLayers:
    """Follow links back from the targets, up to layer N; sample pages and back links beyond the limits."""
    rng = Random(random_state)  # noqa: S311 - no secret
    fresh = sorted(set(targets))
    layer_of = dict.fromkeys(fresh, 0)
    layers = [_at_most(most_pages, fresh, rng)]
    for layer in range(1, N + 1):
        found: set[int] = set()
        for page in layers[-1]:
            found.update(_at_most(most_back_links, graph.predecessors(page).tolist(), rng))
        fresh = sorted(found - layer_of.keys())
        layer_of.update(dict.fromkeys(fresh, layer))
        layers.append(_at_most(most_pages, fresh, rng))
    return ContextLayers(layers, layer_of)


def _at_most(most: int, pages: list[int], rng: Random) -> list[int]:
    return pages if len(pages) <= most else sorted(rng.sample(pages, most))
