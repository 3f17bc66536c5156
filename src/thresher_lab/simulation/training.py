"""Training in the lab: training pages are separate from the pages that a strategy is measured by.

Some targets are set aside to train on. They are no hits of any crawl, and no fetches either: a
strategy that knows them gains nothing by fetching them. WebKB is split by university: three are for training, one is
crawled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np

from thresher.linkgraph import LinkGraph
from thresher.urls.canonical import host_key
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web
from thresher_papers.strategies.layers.source import ELSEWHERE

TRAINING_SHARE = 0.3
"""Of the targets of a topic."""

UNIVERSITIES = ("cornell.edu", "utexas.edu", "washington.edu", "wisc.edu")
"""The four of WebKB; seed set s is crawled at number s mod 4."""


@dataclass(frozen=True, kw_only=True)
class TrainingSplit:
    """The training pages of a task.

    Args:
        targets: Pages of the topic that are trained on, and not counted in the crawl.
        hidden: Pages that training must not see.
    """

    targets: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()


def training_split(web: Web, topic: str, seed_set: int, share: float = TRAINING_SHARE) -> TrainingSplit:
    """Set targets of a topic aside: the same ones for every strategy, others for another seed set."""
    targets = sorted(web.targets(topic))
    if web.name.partition("+")[0] == "webkb":
        crawled = UNIVERSITIES[seed_set % len(UNIVERSITIES)]
        hidden = frozenset(page for page in range(len(web)) if _is_at(web.url_of(page), crawled))
        return TrainingSplit(targets=frozenset(targets) - hidden, hidden=hidden)
    rng = Random(f"{web.name} {topic} {seed_set} training")  # noqa: S311 - no secret
    return TrainingSplit(targets=frozenset(rng.sample(targets, round(share * len(targets)))))


def _is_at(url: str, university: str) -> bool:
    return f".{host_key(url)}".partition(":")[0].endswith(f".{university}")


def without(graph: LinkGraph, free: Iterable[int]) -> LinkGraph:
    """Remove pages without cost from a graph: pages that link to them then link to their targets."""
    taken = set(free)
    tails, heads = graph.edges_from(np.arange(graph.page_count, dtype=np.int32))
    is_free = np.zeros(graph.page_count, dtype=np.bool_)
    is_free[list(taken)] = True
    kept = ~is_free[tails] & ~is_free[heads]
    behind = {page: _reached_through(graph, page, taken) for page in taken}
    more: dict[int, set[int]] = {}
    for tail, head in zip(tails[is_free[heads]].tolist(), heads[is_free[heads]].tolist(), strict=True):
        if tail not in taken:
            more.setdefault(tail, set()).update(behind[head])
    new = [(tail, head) for tail, reached in more.items() for head in reached]
    edges = np.concatenate([np.stack([tails[kept], heads[kept]], axis=1), np.array(new, dtype=np.int32).reshape(-1, 2)])
    return LinkGraph.from_edges(graph.page_count, edges)


def _reached_through(graph: LinkGraph, page: int, free: set[int]) -> set[int]:
    """Return the pages with cost that can be reached from a page over free ones alone."""
    reached: set[int] = set()
    seen, waiting = {page}, [page]
    while waiting:
        for linked in graph.successors(waiting.pop()).tolist():
            if linked not in free:
                reached.add(linked)
            elif linked not in seen:
                seen.add(linked)
                waiting.append(linked)
    return reached


class WebPages:
    """The pages of a frozen web to train on.

    Args:
        graph: The web's links.
        hidden: Pages that are left out.
    """

    def __init__(self, web: Web, pages: ParsedPages, graph: LinkGraph, *, hidden: frozenset[int] = frozenset()) -> None:
        self._web = web
        self._pages = pages
        self._graph = graph
        self._hidden = hidden

    @cached_property
    def graph(self) -> LinkGraph:
        """Which page links to which."""
        if not self._hidden:
            return self._graph
        tails, heads = self._graph.edges_from(np.arange(len(self._web), dtype=np.int32))
        hidden = np.zeros(len(self._web), dtype=np.bool_)
        hidden[list(self._hidden)] = True
        kept = ~hidden[tails] & ~hidden[heads]
        return LinkGraph.from_arrays(len(self._web), tails[kept], heads[kept])

    def text(self, page: int) -> str:
        """Return the text of a page."""
        found = self._pages.get(self._web.url_of(page))
        return found[0].text if found else ""

    def links(self, page: int) -> Iterator[tuple[int, str]]:
        """Return the links of a page: target and anchor."""
        found = self._pages.get(self._web.url_of(page))
        for link in found[0].links if found else ():
            target = self._web.page_id(link.url)
            yield (ELSEWHERE if target is None or target in self._hidden else target), link.anchor
