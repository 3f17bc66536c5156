"""Classes of a taxonomy: RULES flattens ODP so that every class has enough training pages.

From the bottom up, a leaf with too few URLs is merged into its parent; a parent without remaining children becomes a
leaf itself. The remaining leaves are the classes. URLs at inner nodes belong to no class and are dropped, and so are
those of a whole branch that is too small: the root is not a class.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Mapping

import xxhash

from thresher.topics.taxonomy.taxonomy import TaxonomyReader

MIN_URLS = 150
MAX_URLS = 150
"""The paper's values: the minimum and the maximum number of URLs of a class."""

ALL_LANGUAGES = ("en", "zh")


def classes(
    taxonomy: TaxonomyReader, *, least: int = MIN_URLS, most: int = MAX_URLS, random_state: int = 0
) -> dict[str, list[str]]:
    """Return the classes of a taxonomy: for each its path, and title and description of its example pages.

    Args:
        least: A leaf with fewer URLs is merged into its parent.
        most: How many example pages are sampled per class.
        random_state: Seed of the sampling.
    """
    sampled = _sample(taxonomy, _homes(taxonomy, least), most, random_state)
    found = {_path(taxonomy, home): _texts(taxonomy, numbers) for home, numbers in sampled.items()}
    return dict(sorted(found.items()))


def class_urls(
    taxonomy: TaxonomyReader, *, least: int = MIN_URLS, most: int = MAX_URLS, random_state: int = 0
) -> dict[str, list[str]]:
    """Return the same classes, with the URLs of the same example pages."""
    sampled = _sample(taxonomy, _homes(taxonomy, least), most, random_state)
    query = "SELECT url FROM example WHERE id = ?"
    found = {
        _path(taxonomy, home): [str(url) for number in numbers for (url,) in taxonomy.rows(query, number)]
        for home, numbers in sampled.items()
    }
    return dict(sorted(found.items()))


def _homes(taxonomy: TaxonomyReader, least: int) -> array[int]:
    """Return for each node id that of its class; 0 for nodes that belong to none.

    Arrays are used because ODP has 800,000 nodes.
    """
    [(size,)] = taxonomy.rows("SELECT coalesce(max(id), 0) + 1 FROM node")
    total, joins, has_class_below = (array("q", bytes(8 * size)) for _ in range(3))
    for node, parent, urls in taxonomy.stream("SELECT id, parent, urls FROM node ORDER BY depth DESC"):
        total[node] += urls
        if has_class_below[node]:
            has_class_below[parent] = 1
        elif total[node] < least:
            total[parent] += total[node]
            joins[node] = parent
        else:
            has_class_below[parent] = 1
            joins[node] = node
    for (node,) in taxonomy.stream("SELECT id FROM node ORDER BY depth"):
        joins[node] = joins[joins[node]]
    return joins


def _sample(taxonomy: TaxonomyReader, homes: array[int], most: int, random_state: int) -> Mapping[int, list[int]]:
    """Sample pages per class: those with the smallest hashes of URLs, whatever the order of import."""
    kept: dict[int, list[tuple[int, int]]] = {}
    for number, node, url in taxonomy.stream("SELECT id, node, url FROM example"):
        if home := homes[node]:
            heap = kept.setdefault(home, [])
            entry = (-xxhash.xxh64_intdigest(url.encode(), seed=random_state), number)
            if len(heap) < most:
                heapq.heappush(heap, entry)
            else:
                heapq.heappushpop(heap, entry)
    return {home: sorted(number for _, number in heap) for home, heap in kept.items()}


def _path(taxonomy: TaxonomyReader, node: int) -> str:
    [(path,)] = taxonomy.rows("SELECT path FROM node WHERE id = ?", node)
    return str(path)


def _texts(taxonomy: TaxonomyReader, numbers: Iterable[int]) -> list[str]:
    """Return titles and descriptions of pages; pages without any are left out."""
    query = "SELECT trim(title || ' ' || description) FROM example WHERE id = ?"
    return [text for number in numbers for (text,) in taxonomy.rows(query, number) if text]
