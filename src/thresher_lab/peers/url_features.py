"""The features of Anthelion's classifier of URLs: hashed tokens, and the labels of its parents and siblings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np

from thresher.urls.tokens import split_host
from thresher_lab.peers.naive_bayes import Features

HASHES = 10_000
GOOD_PARENT, BAD_PARENT, GOOD_SIBLING, BAD_SIBLING = range(HASHES, HASHES + 4)
FEATURES = HASHES + 4
MIN_LETTERS = 3
MAX_PAGES = 20_000
MAX_PARENTS = 8
"""Of one URL; further ones are ignored."""
REMEMBERED_URLS = 1 << 15
_NUMBER = "[NUMBER]"
_TOKEN_ENDS = re.compile(r"[^a-z0-9]").split


def tokens_of(url: str) -> list[str]:
    """Cut what follows the host into tokens of three characters and more, each once; numbers are all one token.

    Tokens of letters and digits mixed are left out.
    """
    found = (token for token in _TOKEN_ENDS(split_host(url)[1]) if len(token) >= MIN_LETTERS)
    named = (_NUMBER if token.isdecimal() else token for token in found)
    return list(dict.fromkeys(token for token in named if token == _NUMBER or token.isalpha()))


def url_features(url: str, labels: Sequence[int]) -> Features:
    """Return the numbers of all features of a URL."""
    return np.array([*_hashes(url), *labels], dtype=np.int32)


@lru_cache(maxsize=REMEMBERED_URLS)
def _hashes(url: str) -> tuple[int, ...]:
    return tuple(sorted({crc32(token.encode()) % HASHES for token in tokens_of(url)}))


class Families:
    """The labels of the latest pages, and of the children of each that were fetched."""

    def __init__(self) -> None:
        self._relevant: dict[str, bool] = {}
        self._children: dict[str, set[bool]] = {}

    def add(self, page: str, relevant: bool) -> None:
        """Record the label of a page with links."""
        self._relevant[page] = relevant
        self._children.setdefault(page, set())
        if len(self._relevant) > MAX_PAGES:
            oldest = next(iter(self._relevant))
            del self._relevant[oldest], self._children[oldest]

    def child(self, parents: Iterable[str], relevant: bool) -> None:
        """Record the label of a page for all known pages that link to it."""
        for parent in parents:
            if parent in self._children:
                self._children[parent].add(relevant)

    def labels(self, parents: Sequence[str]) -> list[int]:
        """Return the features of a URL from its parents and from their other children."""
        of_parents = {self._relevant[parent] for parent in parents if parent in self._relevant}
        of_siblings = set().union(*(self._children.get(parent, ()) for parent in parents))
        found = ((GOOD_PARENT, True in of_parents), (BAD_PARENT, False in of_parents),
                 (GOOD_SIBLING, True in of_siblings), (BAD_SIBLING, False in of_siblings))  # fmt: skip
        return [feature for feature, is_there in found if is_there]
