"""What a strategy is told of the topic: plain values and finished parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from thresher.text.tokens import Mentions, count
from thresher.text.vectors import Vector, cosine
from thresher.topics.token_table import TokenTable
from thresher.topics.topic import Labels
from thresher.topics.url_evidence import UrlEvidence

REMEMBERED_TEXTS = 1 << 15
"""Anchors and menus come again and again."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The topic as strategies see it.

    Args:
        vectors: Its terms and their weights, by language and node.
        labels: Its labels from the first level to each node's own, for URLs.
        phrases: Its phrases and keywords as the user wrote them.
        tokens: How labels are spelled in URLs; the shipped table when none is given.
        model: The folder of what was trained for this crawl; None when nothing was.
    """

    vectors: Mapping[str, Vector] = field(default_factory=dict)
    labels: Sequence[Labels] = ()
    phrases: Sequence[str] = ()
    tokens: TokenTable | None = None
    model: Path | None = None

    def likeness(self, text: str) -> float:
        """Give the cosine of a text and the topic, of the vector that fits best: FCMRPS, equations 1 to 3."""
        return self._likeness(text) if text else 0.0

    def url_evidence(self, url: str) -> float:
        """Give R_url: how much of the topic's labels stands in a URL."""
        return self._evidence.score(url)

    @cached_property
    def _likeness(self) -> _Likeness:
        return _Likeness(self.vectors)

    @cached_property
    def _evidence(self) -> UrlEvidence:
        return UrlEvidence(self.labels, self.tokens or TokenTable.shipped())


class _Likeness:
    """The likeness of texts to the topic, remembered for those that come again."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = list(vectors.values())
        self._mentions = Mentions(term for vector in self._vectors for term in vector)
        self._remembered = lru_cache(maxsize=REMEMBERED_TEXTS)(self._compare)

    def __call__(self, text: str) -> float:
        return self._remembered(text) if len(text) < 1000 else self._compare(text)

    def _compare(self, text: str) -> float:
        if not self._mentions(text):  # most words around links say nothing of the topic
            return 0.0
        counts = count(text)
        return max((cosine(counts, vector) for vector in self._vectors), default=0.0)
