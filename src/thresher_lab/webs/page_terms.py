"""The terms of a web's pages, counted once and cached for all topics.

Kept as numbers, which take a few kilobytes per page.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from thresher.records import ParsedPage
from thresher_lab.webs.parsed_pages import ParsedPages
from thresher_lab.webs.virtualweb import Web
from thresher_papers.judges.estimators.sections import Counts, weighted_counts


class PageWords:
    """Counts the terms of pages, by their numbers in the web."""

    def __init__(self, web: Web, pages: ParsedPages) -> None:
        self._web = web
        self._pages = pages
        self._terms = _Terms()
        self._texts: dict[int, _Counted] = {}

    def of_text(self, page: int) -> Counts:
        """Count the text of a page."""
        if page not in self._texts:
            found = self._page(page)
            self._texts[page] = self._terms.pack(weighted_counts(found.text) if found else {})
        return self._terms.unpack(self._texts[page])

    def _page(self, page: int) -> ParsedPage | None:
        found = self._pages.get(self._web.url_of(page))
        return found[0] if found else None


_Counted = tuple[NDArray[np.int32], NDArray[np.float32]]
"""The numbers of terms, and their counts in a page."""


class _Terms:
    """Terms and their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._terms: list[str] = []

    def pack(self, counts: Counts) -> _Counted:
        terms = np.fromiter(self._numbered(counts), dtype=np.int32, count=len(counts))
        return terms, np.fromiter(counts.values(), dtype=np.float32, count=len(counts))

    def unpack(self, counted: _Counted) -> dict[str, float]:
        terms, counts = counted
        return dict(zip(map(self._terms.__getitem__, terms.tolist()), counts.tolist(), strict=True))

    def _numbered(self, counts: Counts) -> Iterator[int]:
        for term in counts:
            number = self._numbers.setdefault(term, len(self._terms))
            if number == len(self._terms):
                self._terms.append(term)
            yield number
