"""What waits in the queue, as far as one worker remembers it, for strategies that score again or choose from it.

Bounded: of links that wait the latest are remembered, of URLs that are done the latest fingerprints. What is forgotten
keeps its place in the queue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from thresher.strategies.base import Change
from thresher.urls.canonical import fingerprint

MOST_LINKS = 20_000
MOST_DONE = 200_000
MOST_CHOSEN = 1_000
LEAST_CHANGE = 0.001
"""Smaller changes of a score are not worth a write."""

Item = TypeVar("Item")


class Waiting(Generic[Item]):
    """Links that wait: the score of each, and what it was made from.

    Args:
        most_links: How many are remembered.
    """

    def __init__(self, *, most_links: int = MOST_LINKS) -> None:
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
        """Give all links with what their scores are made from, the oldest first."""
        return iter(self._items.items())

    def score_of(self, url: str) -> float:
        """Give the score of a link that waits."""
        return self._scores[url]

    def is_done(self, url: str) -> bool:
        """Tell whether a page came for a URL, or never will, as far as is remembered."""
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
        """Let a URL go that waits no more; return what its score was made from, if that is remembered."""
        item = self._chosen.pop(url) if url in self._chosen else self._items.get(url)
        self._done[fingerprint(url)] = None
        if len(self._done) > MOST_DONE:
            del self._done[next(iter(self._done))]
        self._scores.pop(url, None)
        self._items.pop(url, None)
        return item

    def choose(self, url: str, item: Item | None = None) -> float:
        """Let a URL go that is to be fetched next, and return the score at which it waited.

        What it was chosen by is remembered until its page comes.
        """
        known, was = self._items[url], self._scores[url]
        self.leave(url)
        self._chosen[url] = known if item is None else item
        if len(self._chosen) > MOST_CHOSEN:
            del self._chosen[next(iter(self._chosen))]
        return was

    def rescore(self, scores: Mapping[str, float]) -> dict[str, Change]:
        """Take over new scores; return those that are worth a write."""
        changes = {url: Change(self._scores[url], now) for url, now in scores.items()}
        changes = {url: change for url, change in changes.items() if abs(change.now - change.was) > LEAST_CHANGE}
        self._scores.update((url, change.now) for url, change in changes.items())
        return changes

    def _remember(self, url: str, score: float, item: Item) -> None:
        self._scores[url], self._items[url] = score, item
        if len(self._items) > self._most_links:
            oldest = next(iter(self._items))
            del self._scores[oldest], self._items[oldest]
