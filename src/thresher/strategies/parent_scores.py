"""The parents of waiting URLs, for strategies whose scores follow the judgements of parents.

Bounded: beyond a number of links the oldest pages are dropped, and the URLs that they link to keep their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from thresher.records import Revision
from thresher.strategies.base import ScoreChange

MAX_LINKS = 200_000
MAX_PARENTS = 64
"""Of one URL; a dead link in a menu has as many parents as there are pages."""
MIN_CHANGE = 0.005
"""Smaller changes of a score are not worth a write."""

Combine = Callable[[Sequence[float]], float]
"""From the relevance of all known parents to a score."""


class Parents:
    """The latest pages, their relevance, and the URLs they link to.

    Args:
        combine: Computes a URL's score from the relevance of its parents.
        most_links: How many links are remembered.
    """

    def __init__(self, combine: Combine, *, most_links: int = MAX_LINKS) -> None:
        self._combine = combine
        self._most_links = most_links
        self._links = 0
        self._children: dict[str, list[str]] = {}
        self._relevance: dict[str, float] = {}
        self._parents: dict[str, list[str]] = {}
        self._scores: dict[str, float] = {}

    def add(self, page: str, relevance: float, urls: Iterable[str]) -> None:
        """Remember a judged page and its links; the page itself no longer waits."""
        self._forget_child(page)
        if page in self._relevance:
            self._forget_page(page)
        children = [url for url in dict.fromkeys(urls) if self._is_worth_remembering(url)]
        self._relevance[page], self._children[page] = relevance, children
        self._links += len(children)
        for child in children:
            self._parents.setdefault(child, []).append(page)
            self._scores[child] = self._score(child)
        while self._links > self._most_links and len(self._relevance) > 1:
            self._forget_page(next(iter(self._relevance)))

    def warm_start(self, page: str, relevance: float, urls: Iterable[str], waiting: Mapping[str, float]) -> None:
        """Remember a page of an earlier run with its links to waiting URLs, which keep their current scores."""
        if page in self._relevance:
            return
        known = dict(self._scores)
        self.add(page, relevance, (url for url in urls if url in waiting))
        self._scores.update((url, known.get(url, waiting[url])) for url in self._children.get(page, ()))

    def revise(self, revisions: Sequence[Revision]) -> dict[str, ScoreChange]:
        """Update the relevance of revised pages; return the score changes."""
        touched: dict[str, None] = {}
        for revision in revisions:
            if revision.url in self._relevance:
                self._relevance[revision.url] = revision.judgement.reward
                touched.update(dict.fromkeys(self._children[revision.url]))
        changes = {}
        for child in touched:
            change = ScoreChange(self._scores[child], self._score(child))
            if abs(change.now - change.was) > MIN_CHANGE:
                changes[child] = change
                self._scores[child] = change.now
        return changes

    def score_of(self, url: str) -> float | None:
        """Return the score of a waiting URL; None when it is not remembered."""
        return self._scores.get(url)

    def _is_worth_remembering(self, url: str) -> bool:
        return url not in self._relevance and len(self._parents.get(url, ())) < MAX_PARENTS

    def _score(self, child: str) -> float:
        return self._combine([self._relevance[parent] for parent in self._parents[child]])

    def _forget_child(self, url: str) -> None:
        for parent in self._parents.pop(url, ()):
            self._children[parent].remove(url)
            self._links -= 1
        self._scores.pop(url, None)

    def _forget_page(self, page: str) -> None:
        del self._relevance[page]
        children = self._children.pop(page)
        self._links -= len(children)
        for child in children:
            self._parents[child].remove(page)
            if not self._parents[child]:
                del self._parents[child], self._scores[child]
