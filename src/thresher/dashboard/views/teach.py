"""What people are asked, and what they said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from thresher import teaching
from thresher.dashboard.watched import WatchedCrawl
from thresher.labels import verdicts


async def questions(watched: WatchedCrawl, *, limit: int = 10, boundary: bool = False) -> dict[str, Any]:
    """Return the pages whose answer teaches most, or those near the threshold, and how much was told so far."""
    asked = await teaching.questions(watched.crawl, limit, boundary=boundary)
    told = list(verdicts(await watched.labels()).values())
    return {
        "questions": [_question(question) for question in asked],
        "told": {"yes": told.count(True), "no": told.count(False)},
    }


def _question(question: teaching.Question) -> dict[str, Any]:
    record = question.record
    return {
        "url": record.url,
        "title": record.title,
        "language": record.language,
        "relevance": record.relevance,
        "why": question.why,
        "excerpt": question.excerpt,
    }


async def labels(watched: WatchedCrawl) -> dict[str, Any]:
    """Return every word that was said, in their order."""
    return {"labels": [asdict(label) for label in await watched.labels()]}


async def tell(watched: WatchedCrawl, told: Mapping[str, bool | None], *, boundary: bool = False) -> dict[str, Any]:
    """Label pages, None to remove a label; return what that changed, the threshold too when asked for."""
    taught = await teaching.tell(watched.crawl, told, boundary=boundary)
    watched.fresh.clear()
    return taught.as_json()
