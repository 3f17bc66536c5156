"""The frontier: a histogram of the scores, and the next URLs with the parts of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thresher.frontier.base import UrlEntry
from thresher.frontier.inspect import ScoreSample
from thresher.storage.page_store import FoundLink, PageRecord
from thresher.storage.reader import PageStoreReader
from thresher_ui.dashboard.open_crawl import OpenCrawl

BUCKETS = 40
SAMPLED = 4_000
HISTOGRAM_SECONDS = 5.0


async def frontier(open_crawl: OpenCrawl, *, limit: int = 50) -> dict[str, Any]:
    """Return the histogram of scores and the next URLs."""
    counts = await open_crawl.frontier_reader.counts()
    sample: ScoreSample = await open_crawl.cache.get(
        "sample", lambda: open_crawl.frontier_reader.sample(SAMPLED), seconds=HISTOGRAM_SECONDS
    )
    entries = await open_crawl.frontier_reader.peek(limit)
    return {
        "histogram": _histogram(sample, counts.waiting),
        "waiting": counts.waiting,
        "sampled": not sample.whole,
        "next": await open_crawl.reader.ask(lambda collection: _with_reasons(collection, entries)),
    }


def _histogram(sample: ScoreSample, waiting: int) -> list[dict[str, float]]:
    if not sample.scores:
        return []
    scores, weights = np.array(sample.scores).T
    counts, edges = np.histogram(scores, bins=BUCKETS, weights=weights)
    if not sample.whole:
        counts = counts * (waiting / counts.sum())
    return [
        {"low": float(low), "high": float(high), "count": round(float(count))}
        for low, high, count in zip(edges, edges[1:], counts, strict=False)
    ]


def _with_reasons(collection: PageStoreReader, entries: Sequence[UrlEntry]) -> list[dict[str, Any]]:
    parents = {entry.parent for entry in entries if entry.parent}
    records = {parent: collection.find(parent) for parent in parents}
    links = {parent: {link.url: link for link in collection.links(parent)} for parent in parents}
    return [_next(entry, records.get(entry.parent), links.get(entry.parent, {}).get(entry.url)) for entry in entries]


def _next(entry: UrlEntry, parent: PageRecord | None, link: FoundLink | None) -> dict[str, Any]:
    return {
        "url": entry.url,
        "host": entry.host,
        "score": entry.score,
        "hops": entry.hops,
        "tries": entry.tries,
        "anchor": link.anchor if link else "",
        "parts": dict(link.parts) if link else {},
        "parent": parent.url if parent else "",
        "parent_title": parent.title if parent else "",
    }
