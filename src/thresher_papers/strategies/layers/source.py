"""Sources of training pages: numbered pages with text, links between them, and the anchors of those links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from thresher.linkgraph import LinkGraph

ELSEWHERE = -1
"""The target of a link to none of the pages."""


class TrainingSource(Protocol):
    """Pages to train on."""

    @property
    def graph(self) -> LinkGraph:
        """Which page links to which."""
        ...

    def text(self, page: int) -> str:
        """Return the text of a page."""
        ...

    def links(self, page: int) -> Iterable[tuple[int, str]]:
        """Return the links of a page: the target of each, or `ELSEWHERE`, and its anchor."""
        ...
