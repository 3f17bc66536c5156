"""A directed graph of pages 0 to n - 1 in arrays, so that a million pages fit into memory and are walked in seconds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from thresher.errors import StoreError

Numbers = NDArray[np.int32]
"""Page numbers, counts or distances."""

Mask = NDArray[np.bool_]
"""One boolean for each page, or for each item of another array."""

Pages = Iterable[int] | NDArray[Any]
"""Page numbers in any sequence or set, or a mask over all pages."""

LIMIT = np.iinfo(np.int32).max


class LinkGraph:
    """The links between pages as a compressed sparse row matrix.

    Row i is ``heads[offsets[i]:offsets[i + 1]]``: the pages that page i links to, ascending, each once. A link from a
    page to itself and a dead link (a negative head) are not stored.

    Args:
        offsets: The start of each row, and the end of the last one: n + 1 numbers.
        heads: All rows, concatenated.

    Raises:
        ValueError: The arrays do not describe a graph.
    """

    def __init__(self, offsets: Numbers, heads: Numbers) -> None:
        if offsets.size == 0 or offsets[0] != 0 or offsets[-1] != heads.size or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the number of links, {heads.size}")
        if heads.size and (heads.min() < 0 or heads.max() >= offsets.size - 1):
            raise ValueError(f"links must lead to pages 0 to {offsets.size - 2}")
        self._offsets = offsets
        self._heads = heads

    @classmethod
    def from_edges(cls, page_count: int, edges: Iterable[tuple[int, int]] | NDArray[Any]) -> Self:
        """Build a graph from (page, linked page) pairs, or from an array with two columns."""
        pairs = np.asarray(edges if isinstance(edges, np.ndarray) else list(edges), dtype=np.int64).reshape(-1, 2)
        return cls.from_arrays(page_count, pairs[:, 0], pairs[:, 1])

    @classmethod
    def from_arrays(cls, page_count: int, tails: NDArray[Any], heads: NDArray[Any]) -> Self:
        """Build a graph of the links ``tails[i] -> heads[i]``.

        Args:
            page_count: The number of pages.
            tails: The page that contains each link.
            heads: The page that it leads to; negative when it is dead.

        Raises:
            ValueError: A page number is out of range.
        """
        inside = (heads >= 0) & (heads != tails)
        tails, heads = tails[inside], heads[inside]
        for name, ends in (("tails", tails), ("heads", heads)):
            if ends.size and (ends.min() < 0 or ends.max() >= page_count):
                raise ValueError(f"{name} must be pages 0 to {page_count - 1}, got {ends.min()} to {ends.max()}")
        # One integer key per link sorts faster than pairs, and sorting is ten times faster than numpy's unique.
        keys = np.sort(tails.astype(np.int64) * page_count + heads)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        if max(page_count, keys.size) > LIMIT:
            raise ValueError(f"a graph holds at most {LIMIT} pages and links, got {page_count} and {keys.size}")
        tails, heads = np.divmod(keys, max(page_count, 1))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(tails, minlength=page_count))))
        return cls(offsets.astype(np.int32), heads.astype(np.int32))

    @property
    def page_count(self) -> int:
        return self._offsets.size - 1

    @property
    def link_count(self) -> int:
        return self._heads.size

    @cached_property
    def transposed(self) -> LinkGraph:
        """The same graph with every link reversed; built on first use."""
        tails = np.repeat(np.arange(self.page_count), np.diff(self._offsets))
        return LinkGraph.from_arrays(self.page_count, self._heads, tails)

    def successors(self, page: int) -> Numbers:
        """Return the pages that a page links to, ascending."""
        if not 0 <= page < self.page_count:  # a negative number would silently count from the end
            raise ValueError(f"pages must be 0 to {self.page_count - 1}, got {page}")
        return self._heads[self._offsets[page] : self._offsets[page + 1]]

    def predecessors(self, page: int) -> Numbers:
        """Return the pages that link to a page, ascending."""
        return self.transposed.successors(page)

    def edges_from(self, pages: Numbers) -> tuple[Numbers, Numbers]:
        """Return all links of several different pages, as tails and heads."""
        begins = self._offsets[pages]
        counts = self._offsets[pages + 1] - begins
        ends = np.cumsum(counts, dtype=np.int32)
        places = np.repeat(begins - (ends - counts), counts)
        places += np.arange(places.size, dtype=np.int32)
        return np.repeat(pages, counts), self._heads[places]

    def numbers(self, pages: Pages) -> Numbers:
        """Return page numbers or a mask as an array of page numbers: in the given order, each once.

        Raises:
            ValueError: A page number is out of range.
        """
        named = pages if isinstance(pages, np.ndarray) else np.asarray(list(pages))
        if named.dtype == np.bool_ and named.size:
            if named.shape != (self.page_count,):
                raise ValueError(f"a mask must have {self.page_count} values, one per page, got {named.size}")
            return np.flatnonzero(named).astype(np.int32)
        if named.size and (named.min() < 0 or named.max() >= self.page_count):
            raise ValueError(f"pages must be 0 to {self.page_count - 1}, got {named.min()} to {named.max()}")
        _, first = np.unique(named, return_index=True)
        return named[np.sort(first)].astype(np.int32)

    def reachable(self, seeds: Pages) -> Mask:
        """Return for each page whether it can be reached from the seeds; the seeds themselves can."""
        return self.distances_from(seeds) >= 0

    def distances_from(self, seeds: Pages) -> Numbers:
        """Return the distance in links from the nearest seed to each page; -1 where there is no path."""
        distances = np.full(self.page_count, -1, dtype=np.int32)
        scratch = np.empty(self.page_count, dtype=np.int32)
        layer, distance = self.numbers(seeds), 0
        while layer.size:
            distances[layer] = distance
            _, reached = self.edges_from(layer)
            reached = reached[distances[reached] < 0]
            layer, distance = reached[one_of_each(reached, scratch)], distance + 1
        return distances

    def distances_to(self, targets: Pages) -> Numbers:
        """Return the distance in links from each page to the nearest target; -1 where there is no path."""
        return self.transposed.distances_from(targets)

    def pagerank(
        self, restart: NDArray[Any] | None = None, *, damping: float = 0.85, iterations: int = 100
    ) -> NDArray[np.float64]:
        """Return the PageRank of each page; all of them sum to 1.

        Args:
            restart: A weight per page, at which the random surfer starts again; by default all alike. Pages without
                links lead there too.
            damping: Probability that the surfer follows a link.
            iterations: Number of power iterations.

        Raises:
            ValueError: A weight is negative, or their number is not that of the pages.
        """
        n = self.page_count
        weights = np.ones(n) if restart is None else np.asarray(restart, dtype=np.float64)
        if weights.shape != (n,) or (weights < 0).any():
            raise ValueError(f"restart must have {n} weights of at least 0")
        start = weights / weights.sum() if weights.sum() > 0 else np.full(n, 1 / max(n, 1))
        out = np.diff(self._offsets)
        tails, ranks = np.repeat(np.arange(n), out), start
        for _ in range(iterations):
            share = ranks / np.maximum(out, 1)
            followed = np.bincount(self._heads, weights=share[tails], minlength=n)
            ranks = damping * followed + (1 - damping * followed.sum()) * start
        return ranks

    def hits(self, weights: NDArray[Any], *, iterations: int = 20) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the hub and the authority score of each page by HITS; the greatest of each is 1.

        Args:
            weights: A weight per page, from 0 to 1: that of each link to it.
            iterations: Number of power iterations.
        """
        n = self.page_count
        tails = np.repeat(np.arange(n), np.diff(self._offsets))
        weight = np.asarray(weights, dtype=np.float64)[self._heads]
        h, a = np.ones(n), np.zeros(n)
        for _ in range(iterations):
            a = _scaled(np.bincount(self._heads, weights=weight * h[tails], minlength=n))
            h = _scaled(np.bincount(tails, weights=weight * a[self._heads], minlength=n))
        return h, a

    def save(self, path: Path) -> None:
        """Write the graph as an npz file of two arrays."""
        with path.open("wb") as file:
            np.savez(file, offsets=self._offsets, heads=self._heads)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a graph written by `save`; nothing in the file is ever executed.

        Raises:
            StoreError: The file is not a link graph.
        """
        try:
            # Opened here, because numpy leaves a damaged file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return cls(arrays["offsets"].astype(np.int32), arrays["heads"].astype(np.int32))
        except (ValueError, TypeError, KeyError, IndexError, EOFError, BadZipFile) as error:
            raise StoreError(f"{path} is not a link graph: {error}; build it again") from error


def one_of_each(pages: Numbers, scratch: Numbers) -> Mask:
    """Mark one occurrence of each page, without sorting.

    Args:
        pages: Page numbers, possibly repeated.
        scratch: An array of one number per page of the graph; its content is overwritten.
    """
    order = np.arange(pages.size, dtype=np.int32)
    scratch[pages] = order
    marked: Mask = scratch[pages] == order
    return marked


def _scaled(values: NDArray[Any]) -> NDArray[np.float64]:
    most = values.max(initial=0)
    return np.asarray(values / most if most > 0 else values, dtype=np.float64)
