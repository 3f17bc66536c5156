"""The waiting links that one worker remembers, for strategies that rescore or choose.

Bounded: the latest waiting links and the latest fingerprints of done URLs. A forgotten link keeps its place in the
queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from thresher.strategies.base import ScoreChange
from thresher.urls.canonical import fingerprint

MAX_LINKS = 20_000
MAX_DONE = 200_000
MAX_CHOSEN = 1_000
MIN_CHANGE = 0.001
"""Smaller changes of a score are not worth a write."""

Item = TypeVar("Item")


class WaitingLinks(Generic[Item]):
    """Waiting links: the score of each, and its features.

    Args:
        most_links: How many are remembered.
    """

    def __init__(self, *, most_links: int = MAX_LINKS) -> None:
        self._most_links = most_links
        self._scores: dict[str, float] = {}
        self._items: dict[str, Item] = {}
        self._chosen: dict[str, Item] = {}
        self._done: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, url: str) -> bool:
        return url in self._items

    def __getitem__(self, url: str) -> Item:
        return self._items[url]

    def items(self) -> Iterator[tuple[str, Item]]:
        """Return all links with their features, the oldest first."""
        return iter(self._items.items())

    def score_of(self, url: str) -> float:
        """Return the score of a waiting link."""
        return self._scores[url]

    def is_done(self, url: str) -> bool:
        """Return whether a URL is remembered as done or failed."""
        return fingerprint(url) in self._done

    def add_first(self, url: str, score: float, item: Item) -> bool:
        """Remember a link that is found for the first time; return False for all others."""
        if url in self._items or self.is_done(url):
            return False
        self._remember(url, score, item)
        return True

    def add_best(self, url: str, score: float, item: Item) -> bool:
        """Remember a link by the best of its finds; return False for one that is worse than before, or done."""
        if score <= self._scores.get(url, float("-inf")) or self.is_done(url):
            return False
        self._remember(url, score, item)
        return True

    def leave(self, url: str) -> Item | None:
        """Remove a URL that no longer waits; return its features if remembered."""
        item = self._chosen.pop(url) if url in self._chosen else self._items.get(url)
        self._done[fingerprint(url)] = None
        if len(self._done) > MAX_DONE:
            del self._done[next(iter(self._done))]
        self._scores.pop(url, None)
        self._items.pop(url, None)
        return item

    def choose(self, url: str, item: Item | None = None) -> float:
        """Remove a URL that is fetched next, and return its score.

        Its features are remembered until its page is fetched.
        """
        known, was = self._items[url], self._scores[url]
        self.leave(url)
        self._chosen[url] = known if item is None else item
        if len(self._chosen) > MAX_CHOSEN:
            del self._chosen[next(iter(self._chosen))]
        return was

    def rescore(self, scores: Mapping[str, float]) -> dict[str, ScoreChange]:
        """Apply new scores; return those that changed enough to be written."""
        changes = {url: ScoreChange(self._scores[url], now) for url, now in scores.items()}
        changes = {url: change for url, change in changes.items() if abs(change.now - change.was) > MIN_CHANGE}
        self._scores.update((url, change.now) for url, change in changes.items())
        return changes

    def _remember(self, url: str, score: float, item: Item) -> None:
        self._scores[url], self._items[url] = score, item
        if len(self._items) > self._most_links:
            oldest = next(iter(self._items))
            del self._scores[oldest], self._items[oldest]
