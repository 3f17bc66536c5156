"""An upper bound of crawls: an oracle that knows every page and every link.

The best order of fetches is NP-hard to find (a rooted Steiner problem), so `oracle_crawl` is a good feasible crawl,
not the best one: with R targets no crawl has more than min(k, R) hits after k fetches.

The oracle keeps the distance of every page from the fetched ones. A fetch only shortens distances; the shortened pages
wait in layers, and a layer's links are walked when distances at its radius are needed. So all fetches
together cost a few walks over the web instead of one each, also for chains of pages. A *hub* is a
page that links to a target not yet fetched; hubs wait in one heap per distance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Literal

import numpy as np

from thresher.linkgraph import LinkGraph, Mask, Numbers, Pages, one_of_each
from thresher_lab.statistics.metrics import hits_area

HORIZON = 16
"""Number of distances beyond the nearest hub that are compared: few webs are that deep, but chains of pages are."""

FAR = np.iinfo(np.int32).max

Variant = Literal["nearest", "ratio"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCrawl:
    """The fetches of an oracle, in order; there are fewer than the budget when no target is left to reach.

    Args:
        variant: How the next hub was chosen, ``nearest`` or ``ratio``.
        pages: The page of each fetch.
        hits: Whether it is a target.
    """

    variant: Variant
    pages: Numbers
    hits: Mask


def oracle_crawl(graph: LinkGraph, targets: Pages, seeds: Pages, budget: int) -> OracleCrawl:
    """Crawl with perfect knowledge, by both variants, and return the better crawl: the larger area under its hits.

    Seeds are fetched first, in their order: they count as fetches, and as hits when they are targets. Dead links are
    not in the graph, so the oracle never fetches one.
    """
    nearest = greedy_crawl(graph, targets, seeds, budget, variant="nearest")
    ratio = greedy_crawl(graph, targets, seeds, budget, variant="ratio")
    return max(nearest, ratio, key=lambda crawl: hits_area(crawl.hits, budget))


def greedy_crawl(graph: LinkGraph, targets: Pages, seeds: Pages, budget: int, *, variant: Variant) -> OracleCrawl:
    """Fetch any target on the frontier; while there is none, go towards the hub that the variant prefers.

    The path is computed again wherever it passes a target. No choice depends on the budget, so a crawl of a smaller
    budget is the beginning of a crawl of a larger one.

    Args:
        graph: The whole web.
        targets: The relevant pages.
        seeds: The pages that are fetched first.
        budget: The largest number of fetches.
        variant: ``nearest`` walks the shortest path to the nearest unfetched target, ``ratio`` the one with the most
            targets gained per irrelevant page, where targets on and right after the path are gained.

    Raises:
        ValueError: The budget is below 1, or a seed or target is not a page of the web.
    """
    if budget < 1:
        raise ValueError(f"the budget must be at least 1 fetch, got {budget}")
    is_target = np.zeros(graph.page_count, dtype=np.bool_)
    is_target[graph.numbers(targets)] = True
    crawl = _Crawl(graph, is_target)
    crawl.fetch(graph.numbers(seeds)[:budget])
    while crawl.size < budget:
        batch = crawl.take_ready()
        if not batch.size:
            hub = VARIANTS[variant](crawl)
            if hub is None:
                break
            batch = crawl.way_to_first_gain(hub)
        crawl.fetch(batch[: budget - crawl.size])
    pages = np.concatenate(crawl.batches)
    return OracleCrawl(variant=variant, pages=pages, hits=is_target[pages])


class _Crawl:
    """The fetched pages, the distances of the others, and the hubs."""

    def __init__(self, graph: LinkGraph, is_target: Mask) -> None:
        self.graph = graph
        self.is_target = is_target
        self.batches: list[Numbers] = []
        self.size = 0
        self.distance = np.full(graph.page_count, FAR, dtype=np.int32)
        self._parent = np.full(graph.page_count, -1, dtype=np.int32)
        self._scratch = np.empty(graph.page_count, dtype=np.int32)
        self._waiting: dict[int, list[Numbers]] = {}
        self._ready = np.empty(0, dtype=np.int32)
        self._hubs: dict[int, list[int]] = {}
        _, linking = graph.transposed.edges_from(np.flatnonzero(is_target).astype(np.int32))
        self.gain = np.bincount(linking, minlength=graph.page_count)
        """Unfetched targets that each page links to."""

    def fetch(self, pages: Numbers) -> None:
        self.batches.append(pages)
        self.size += pages.size
        self.distance[pages] = 0
        _, linking = self.graph.transposed.edges_from(pages[self.is_target[pages]])
        np.subtract.at(self.gain, linking, 1)
        self._waiting[0] = [pages]
        self._settle(1)

    def take_ready(self) -> Numbers:
        """Return the targets that the last fetch added to the frontier."""
        ready, self._ready = self._ready, np.empty(0, dtype=np.int32)
        return ready

    def path_to(self, page: int) -> Numbers:
        """Return the pages to fetch on the shortest path to a page, itself at the end."""
        path = [page]
        while self.distance[path[-1]] > 1:
            path.append(int(self._parent[path[-1]]))
        return np.array(path[::-1], dtype=np.int32)

    def way_to_first_gain(self, hub: int) -> Numbers:
        """Return the path to a hub up to the first page that links to a target."""
        path = self.path_to(hub)
        return path[: int(np.argmax(self.gain[path] > 0)) + 1]

    def best_hubs(self, horizon: int) -> Iterator[int]:
        """Return the hub with the most targets at each distance, from the nearest to `horizon` distances farther."""
        last = FAR
        for distance in count(1):
            self._settle(distance)
            hub = self._best_hub(distance)
            if hub is not None:
                last = min(last, distance + horizon)
                yield hub
            if distance >= last or (not self._waiting and distance >= max(self._hubs, default=0)):
                return

    def gain_per_page(self, path: Numbers) -> float:
        """Count the targets on and right after a path, per irrelevant page on it."""
        _, reached = self.graph.edges_from(path)
        gained = np.unique(reached[self.is_target[reached] & (self.distance[reached] > 0)])
        return gained.size / (path.size - np.count_nonzero(self.is_target[path]))

    def _settle(self, radius: int) -> None:
        """Make all distances up to the radius exact."""
        while self._waiting and (distance := min(self._waiting)) < radius:
            layer = np.concatenate(self._waiting.pop(distance))
            layer = layer[self.distance[layer] == distance]  # the others came nearer while they waited
            self._walk(layer, distance + 1)

    def _walk(self, layer: Numbers, distance: int) -> None:
        """Follow the links of a layer to the pages that it brings nearer."""
        tails, heads = self.graph.edges_from(layer)
        nearer = self.distance[heads] > distance
        tails, heads = tails[nearer], heads[nearer]
        once = one_of_each(heads, self._scratch)
        tails, heads = tails[once], heads[once]
        self.distance[heads] = distance
        self._parent[heads] = tails
        if heads.size:
            self._waiting.setdefault(distance, []).append(heads)
            self._enlist(heads, distance)

    def _enlist(self, layer: Numbers, distance: int) -> None:
        if distance == 1:
            self._ready = layer[self.is_target[layer]]
        hubs = layer[self.gain[layer] > 0]
        if hubs.size:
            keys = hubs - self.gain[hubs] * self.graph.page_count  # the most targets first, then the lowest number
            heap = self._hubs.setdefault(distance, [])
            if hubs.size > len(heap):
                heap.extend(keys.tolist())
                heapify(heap)
            else:
                for key in keys.tolist():
                    heappush(heap, key)

    def _best_hub(self, distance: int) -> int | None:
        heap = self._hubs.get(distance, [])
        while heap:
            key = heap[0]
            hub = key % self.graph.page_count
            current = hub - int(self.gain[hub]) * self.graph.page_count
            if self.distance[hub] == distance and current == key:
                return hub
            heappop(heap)  # it came nearer, or some of its targets are fetched by now
            if self.distance[hub] == distance and self.gain[hub]:
                heappush(heap, current)
        self._hubs.pop(distance, None)
        return None


def _nearest(crawl: _Crawl) -> int | None:
    return next(crawl.best_hubs(horizon=0), None)


def _best_ratio(crawl: _Crawl) -> int | None:
    hubs = crawl.best_hubs(horizon=HORIZON)
    return max(hubs, key=lambda hub: crawl.gain_per_page(crawl.path_to(hub)), default=None)


VARIANTS: dict[Variant, Callable[[_Crawl], int | None]] = {"nearest": _nearest, "ratio": _best_ratio}
