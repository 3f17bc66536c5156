"""Warm start of a strategy after a restart: the pages that the best waiting URLs were found on.

A strategy that re-scores waiting URLs needs the pages that link to them. Those pages are in the page store, and the
URLs with their scores in the frontier, so nothing is stored twice. URLs there that are not canonical, written by other
programs, are skipped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from thresher.frontier.base import Frontier
from thresher.records import ONE_TOPIC, TOPIC_PART, Judgement, ParsedPage
from thresher.storage.reader import PageStoreReader, kept_judgement, kept_page
from thresher.strategies.base import Strategy, WarmStartable
from thresher.strategies.topics import MultiTopicStrategy
from thresher.urls.canonical import canonicalize, fingerprint

BEST_URLS = 2_000
"""Waiting URLs whose pages are loaded."""
MAX_PAGES = 300
"""Pages that are loaded at most: those that the best URLs were found on."""


@dataclass(frozen=True)
class StoredParent:
    """A page of an earlier run that links to waiting URLs.

    Args:
        outcomes: The judgements of the URLs that it links to, as far as they were fetched.
        scores: By topic the scores of its links when they were found, in crawls of several topics.
    """

    page: ParsedPage
    judgement: Judgement
    outcomes: Mapping[str, Judgement]
    scores: Mapping[str, Mapping[str, float]]

    def rewards(self, topic: str) -> dict[str, float]:
        """Return the rewards of the fetched URLs, for the crawl or for one of its topics."""
        return {url: judgement.topics.get(topic, judgement).reward for url, judgement in self.outcomes.items()}


async def warm_start(strategy: Strategy, frontier: Frontier, pages: Path) -> int:
    """Load pages of earlier runs into the strategy of each topic; return how many."""
    combined = strategy if isinstance(strategy, MultiTopicStrategy) else None
    if not combined and not isinstance(strategy, WarmStartable):
        return 0
    best = await frontier.peek(BEST_URLS)
    waiting = {entry.url: entry.score for entry in best if canonicalize(entry.url) == entry.url}
    parents = list(dict.fromkeys(entry.parent for entry in best if entry.parent))[:MAX_PAGES]
    stored = await asyncio.to_thread(lambda: list(_stored_parents(pages, parents, waiting)))
    for parent in stored:
        scores = combined.restore_scores(parent.scores, waiting) if combined else {ONE_TOPIC: waiting}
        judgements = {ONE_TOPIC: parent.judgement, **parent.judgement.topics}
        for topic, own in (combined.strategies if combined else {ONE_TOPIC: strategy}).items():
            if isinstance(own, WarmStartable) and topic in judgements:
                outcomes = parent.rewards(topic)
                own.warm_start(parent.page, judgements[topic], waiting=scores[topic], outcomes=outcomes)
    return len(stored)


def _stored_parents(folder: Path, parents: list[int], waiting: Mapping[str, float]) -> Iterator[StoredParent]:
    with PageStoreReader(folder) as collection:
        for parent in parents:
            if (found := kept_page(collection, parent)) is None:
                continue
            page, record = found
            others = [link.url for link in page.links if link.url not in waiting and canonicalize(link.url) == link.url]
            outcomes = {url: outcome for url in others if (outcome := _outcome(collection, url)) is not None}
            links = tuple(link for link in page.links if link.url in waiting or link.url in outcomes)
            scores = _topic_scores(collection, parent) if record.topics else {}
            yield StoredParent(replace(page, links=links), kept_judgement(record), outcomes, scores)


def _topic_scores(collection: PageStoreReader, parent: int) -> dict[str, dict[str, float]]:
    return {
        link.url: {
            name.removeprefix(TOPIC_PART): score for name, score in link.parts.items() if name.startswith(TOPIC_PART)
        }
        for link in collection.links(parent)
    }


def _outcome(collection: PageStoreReader, url: str) -> Judgement | None:
    """Return the judgement of a URL; of one without a page, that it is not relevant."""
    record = collection.find(fingerprint(url))
    if record is None:
        return None
    return kept_judgement(record) if record.page else Judgement(relevance=0.0, relevant=False)
