"""Warm start of a strategy after a restart: the pages that the best waiting URLs were found on.

A strategy that re-scores waiting URLs needs the pages that link to them. Those pages are in the page store, and the
URLs with their scores in the frontier, so nothing is stored twice. URLs there that are not canonical, written by other
programs, are skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from thresher.frontier.base import Frontier
from thresher.records import Judgement, ParsedPage
from thresher.storage.reader import PageStoreReader, kept_judgement, kept_page
from thresher.strategies.base import WarmStartable
from thresher.urls.canonical import canonicalize, fingerprint

BEST_URLS = 2_000
"""Waiting URLs whose pages are loaded."""
MOST_PAGES = 300
"""Pages that are loaded at most: those that the best URLs were found on."""

StoredParent = tuple[ParsedPage, Judgement, Mapping[str, float]]
"""A page, its judgement, and the rewards of the URLs that it links to, as far as they were fetched."""


async def warm_start(strategy: WarmStartable, frontier: Frontier, pages: Path) -> int:
    """Load pages of earlier runs into a strategy; return how many."""
    best = await frontier.peek(BEST_URLS)
    waiting = {entry.url: entry.score for entry in best if canonicalize(entry.url) == entry.url}
    parents = list(dict.fromkeys(entry.parent for entry in best if entry.parent))[:MOST_PAGES]
    stored = await asyncio.to_thread(lambda: list(_stored_parents(pages, parents, waiting)))
    for page, judgement, outcomes in stored:
        strategy.warm_start(page, judgement, waiting=waiting, outcomes=outcomes)
    return len(stored)


def _stored_parents(folder: Path, parents: list[int], waiting: Mapping[str, float]) -> Iterator[StoredParent]:
    with PageStoreReader(folder) as collection:
        for parent in parents:
            if (found := kept_page(collection, parent)) is None:
                continue
            page, record = found
            others = [link.url for link in page.links if link.url not in waiting and canonicalize(link.url) == link.url]
            outcomes = {url: reward for url in others if (reward := _reward(collection, url)) is not None}
            links = tuple(link for link in page.links if link.url in waiting or link.url in outcomes)
            yield replace(page, links=links), kept_judgement(record), outcomes


def _reward(collection: PageStoreReader, url: str) -> float | None:
    record = collection.find(fingerprint(url))
    return (record.reward if record.page else 0.0) if record else None
