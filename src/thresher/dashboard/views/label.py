"""Labels: the pages to label next, and the labels given so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from thresher.dashboard.open_crawl import OpenCrawl
from thresher.feedback.labels import verdicts
from thresher.operations import labelling


async def questions(open_crawl: OpenCrawl, *, limit: int = 10, boundary: bool = False) -> dict[str, Any]:
    """Return the pages whose labels are most informative, or those near the threshold, and the labels in numbers."""
    chosen = await labelling.questions(open_crawl.crawl, limit, boundary=boundary)
    given = list(verdicts(await open_crawl.labels()).values())
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
        "why": question.why,
        "excerpt": question.excerpt,
    }


async def labels(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return all labels in the order in which they were given."""
    return {"labels": [asdict(label) for label in await open_crawl.labels()]}


async def add_labels(
    open_crawl: OpenCrawl, *, labels: Mapping[str, bool | None], boundary: bool = False
) -> dict[str, Any]:
    """Label pages, None to remove a label; return what changed, with `boundary` also the threshold."""
    result = await labelling.add_labels(open_crawl.crawl, labels, boundary=boundary)
    open_crawl.cache.clear()
    return result.as_json()
