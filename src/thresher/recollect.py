"""What a strategy must have at hand after a restart: the pages that the best waiting URLs were found on.

A strategy that scores waiting URLs again knows them by the pages that link to them. Those pages are in the page store,
and the URLs with their scores in the frontier; so nothing of it is written down a second time. What others wrote there
may be no canonical URL; it is passed over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from thresher.archive.collection import Collection
from thresher.archive.kept_page import kept_judgement, kept_page
from thresher.frontier.base import Frontier
from thresher.records import Judgement, ParsedPage
from thresher.strategies.base import Recaller
from thresher.urls.canonical import canonicalize, fingerprint

BEST_URLS = 2_000
"""Waiting URLs whose pages are taken up again."""
MOST_PAGES = 300
"""Pages that are taken up at most: those that the best URLs were found on."""

Recalled = tuple[ParsedPage, Judgement, Mapping[str, float]]
"""A page, what is thought of it, and what became of the URLs it links to, as far as they were fetched."""


async def recollect(strategy: Recaller, frontier: Frontier, pages: Path) -> int:
    """Let a strategy take up pages of earlier runs; return how many."""
    best = await frontier.peek(BEST_URLS)
    waiting = {entry.url: entry.score for entry in best if canonicalize(entry.url) == entry.url}
    parents = list(dict.fromkeys(entry.parent for entry in best if entry.parent))[:MOST_PAGES]
    recalled = await asyncio.to_thread(lambda: list(_recalled(pages, parents, waiting)))
    for page, judgement, outcomes in recalled:
        strategy.recall(page, judgement, waiting=waiting, outcomes=outcomes)
    return len(recalled)


def _recalled(folder: Path, parents: list[int], waiting: Mapping[str, float]) -> Iterator[Recalled]:
    with Collection(folder) as collection:
        for parent in parents:
            if (found := kept_page(collection, parent)) is None:
                continue
            page, record = found
            others = [link.url for link in page.links if link.url not in waiting and canonicalize(link.url) == link.url]
            outcomes = {url: worth for url in others if (worth := _worth(collection, url)) is not None}
            links = tuple(link for link in page.links if link.url in waiting or link.url in outcomes)
            yield replace(page, links=links), kept_judgement(record), outcomes


def _worth(collection: Collection, url: str) -> float | None:
    record = collection.find(fingerprint(url))
    return (record.reward if record.page else 0.0) if record else None
