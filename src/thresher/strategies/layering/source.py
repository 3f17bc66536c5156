"""Where training pages come from: numbered pages with text, links between them, and the anchors of those links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from thresher.linkgraph.graph import LinkGraph

ELSEWHERE = -1
"""Where a link leads that leads to none of the pages."""


class Source(Protocol):
    """Pages to train on."""

    @property
    def graph(self) -> LinkGraph:
        """Which page links to which."""
        ...

    def text(self, page: int) -> str:
        """Give the text of a page."""
        ...

    def links(self, page: int) -> Iterable[tuple[int, str]]:
        """Give the links of a page: where each leads, or `ELSEWHERE`, and its anchor."""
        ...
