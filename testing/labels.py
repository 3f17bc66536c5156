"""The labels of a crawl that is not open, and its questions."""

from __future__ import annotations

from thresher.crawl import CrawlSetup
from thresher.feedback.labels import verdicts
from thresher.operations.labelling import Question, labelling_session


async def known_labels(crawl: CrawlSetup) -> dict[str, bool]:
    """Return the current labels of people by URL."""
    async with crawl.connect() as connected:
        labels, _ = await connected.labels.read()
    return verdicts(labels)


async def questions(crawl: CrawlSetup, limit: int, *, topic: str = "") -> list[Question]:
    """Return what a session would ask next."""
    async with labelling_session(crawl, topic=topic) as session:
        return await session.questions(limit)
