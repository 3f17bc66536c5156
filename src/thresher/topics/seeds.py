"""Where a crawl can start: the pages that people filed under its topic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice, zip_longest
from urllib.parse import urlsplit

from thresher.topics.taxonomy import Taxonomy
from thresher.urls.addresses import private_network, refused_name
from thresher.urls.canonical import canonicalize

MOST_SEEDS = 10


def example_seeds(
    taxonomy: Taxonomy, paths: Iterable[str], *, languages: Collection[str], most: int = MOST_SEEDS
) -> list[str]:
    """Return URLs of example pages, in turn from each node and its counterparts in the wanted languages.

    Nodes give their own pages first, then those below. A taxonomy is written by others: private addresses in it are
    left out, for they would be somebody's own network.
    """
    tops = [top for path in paths for top in taxonomy.with_counterparts(path, languages)]
    turns = zip_longest(*(islice(_public_urls(taxonomy, top), most) for top in dict.fromkeys(tops)))
    found = dict.fromkeys(url for turn in turns for url in turn if url)
    return list(found)[:most]


def _public_urls(taxonomy: Taxonomy, path: str) -> Iterator[str]:
    for example in taxonomy.examples(path, below=True):
        url = canonicalize(example.url)
        name = urlsplit(url).hostname or "" if url else ""
        if url and not private_network(name) and not refused_name(name):
            yield url
