"""Distances of links from the topic, by the back-links of the crawl: the training data of ACHE's levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from thresher.records import ParsedPage, Revision
from thresher_lab.peers.level_classifier import Neighbourhood

MAX_PAGES = 3_000
"""Only the latest pages are used for training."""
MAX_SAMPLES = 5_000
"""Of each level."""
MAX_BACKLINKS = 50
"""Of one page, the earliest ones."""


@dataclass(slots=True)
class _Page:
    near: Neighbourhood | None
    """The words near the link that led here; None for a seed."""
    links: list[str]
    relevant: bool


class CrawledLevels:
    """The latest pages of a crawl, how they were reached, and where they lead.

    Args:
        levels: How many levels there are.
        random: Samples the links to train on when there are too many.
    """

    def __init__(self, levels: int, random: Random) -> None:
        self._levels = levels
        self._random = random
        self._pages: dict[str, _Page] = {}

    def add(self, page: ParsedPage, near: Neighbourhood | None, *, relevant: bool) -> None:
        """Remember a page that was fetched."""
        self._pages.pop(page.url, None)
        self._pages[page.url] = _Page(near, list(dict.fromkeys(link.url for link in page.links)), relevant)
        if len(self._pages) > MAX_PAGES:
            del self._pages[next(iter(self._pages))]

    def revise(self, revisions: Sequence[Revision]) -> None:
        """Apply revised judgements."""
        for revision in revisions:
            if page := self._pages.get(revision.url):
                page.relevant = revision.judgement.relevant

    def samples(self) -> list[list[Neighbourhood]]:
        """Return the links of each level: those to relevant pages, those to pages that link to them, and so on.

        A page on several ways to the topic counts for each of them, as in ACHE; a relevant one only for level 0.
        """
        backlinks = self._backlinks()
        reached: Sequence[str] = [url for url, page in self._pages.items() if page.relevant]
        samples = [self._near(reached)]
        for _ in range(1, self._levels):
            reached = self._bounded([source for url in reached for source in backlinks.get(url, ())])
            samples.append(self._near([url for url in reached if not self._pages[url].relevant]))
        return samples

    def _backlinks(self) -> dict[str, list[str]]:
        """Return for each fetched page the pages that link to it."""
        found: dict[str, list[str]] = {}
        for url, page in self._pages.items():
            for target in page.links:
                if target in self._pages and target != url and len(found.setdefault(target, [])) < MAX_BACKLINKS:
                    found[target].append(url)
        return found

    def _near(self, urls: Sequence[str]) -> list[Neighbourhood]:
        return [near for url in self._bounded(urls) if (near := self._pages[url].near)]

    def _bounded(self, urls: Sequence[str]) -> Sequence[str]:
        return self._random.sample(urls, MAX_SAMPLES) if len(urls) > MAX_SAMPLES else urls
