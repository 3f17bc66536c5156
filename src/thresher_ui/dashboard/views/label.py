"""Labels: the pages to label next, and the labels given so far."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from thresher.feedback.labels import verdicts
from thresher.operations import labelling
from thresher_ui.dashboard.open_crawl import OpenCrawl


async def questions(open_crawl: OpenCrawl, *, limit: int = 10, without: Sequence[str] = ()) -> dict[str, Any]:
    """Return the pages to label, the nearest to the judge's cut first, and the labels in numbers."""
    log = await open_crawl.labels()
    chosen = await labelling.questions(open_crawl.crawl, log, limit, without=without)
    given = list(verdicts(log).values())
    return {
        "questions": [_question(question) for question in chosen],
        "label_counts": {"yes": given.count(True), "no": given.count(False)},
    }


def _question(question: labelling.Question) -> dict[str, Any]:
    record = question.record
    return {
        "url": record.url,
        "title": record.title,
        "language": record.language,
        "relevance": record.relevance,
        "rank": question.rank,
        "pages": question.pages,
        "excerpt": question.excerpt,
    }


async def labels(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return all labels in the order in which they were given."""
    return {"labels": [asdict(label) for label in await open_crawl.labels()]}


async def add_labels(open_crawl: OpenCrawl, *, labels: Mapping[str, bool | None]) -> dict[str, Any]:
    """Label pages, None to remove a label; return what changed."""
    labelled = labelling.add_labels(open_crawl.crawl, labels)
    result = await asyncio.to_thread(asyncio.run, labelled)  # judging pages again would keep other requests waiting
    open_crawl.cache.clear()
    return result.as_json()
