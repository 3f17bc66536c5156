"""Labelled URLs: what the crawl knows of each, and how those that were not crawled get into the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from thresher.archive.collection import Collection
from thresher.archive.pages import PageRecord
from thresher.build import Crawl
from thresher.errors import ConfigError
from thresher.frontier.base import Frontier, UrlState
from thresher.labels import Label
from thresher.urls.canonical import fingerprint

BEST_SCORE = 1.0
"""Of a waiting URL with a yes: that of a seed."""


class UrlStatus(StrEnum):
    """What the crawl knows of a labelled URL.

    FETCHED has a page, NO_PAGE was tried and has none, WAITING was in the queue, QUEUED is there since the label.
    UNKNOWN is none of these: its label counts if the page is fetched later.
    """

    FETCHED = "fetched"
    NO_PAGE = "no page"
    WAITING = "waiting"
    QUEUED = "queued"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True)
class LabelledUrl:
    """A URL that was labelled.

    Args:
        url: Canonical.
        relevant: The label; None when it was taken back.
        reason: Why there is no page.
    """

    url: str
    relevant: bool | None
    status: UrlStatus
    reason: str = ""


async def look_up(crawl: Crawl, frontier: Frontier, label: Label) -> LabelledUrl:
    """Say what the crawl knows of a URL.

    Raises:
        ConfigError: It was not fetched, and lies outside the crawl.
    """
    entry, record = await frontier.find(label.url), await asyncio.to_thread(_stored, crawl, label.url)
    status, reason = UrlStatus.UNKNOWN, ""
    if record is not None and record.page:
        status = UrlStatus.FETCHED
    elif entry and entry.state in (UrlState.WAITING, UrlState.LEASED):
        status = UrlStatus.WAITING
    elif record is not None or (entry and entry.state is UrlState.FAILED):
        status, reason = UrlStatus.NO_PAGE, record.reason if record else entry.reason if entry else ""
    elif entry:  # another machine has its page
        status = UrlStatus.FETCHED
    elif label.relevant is not None:
        if why := crawl.rules().scope.allows(label.url, 0):
            raise ConfigError(f"{label.url} lies outside this crawl: {why}; nothing was labelled")
        status = UrlStatus.QUEUED if label.relevant else UrlStatus.UNKNOWN
    return LabelledUrl(url=label.url, relevant=label.relevant, status=status, reason=reason)


def _stored(crawl: Crawl, url: str) -> PageRecord | None:
    with Collection(crawl.folder.pages) as collection:
        return collection.find(fingerprint(url))


async def queue_labelled(crawl: Crawl, frontier: Frontier, urls: Sequence[LabelledUrl]) -> None:
    """Let new URLs with a yes into the queue as seeds are, and move those that wait to its front."""
    new = [each.url for each in urls if each.status is UrlStatus.QUEUED]
    if new:
        await frontier.add(list(crawl.strategy().seeds(new)))
    if first := [each.url for each in urls if each.status is UrlStatus.WAITING and each.relevant]:
        await frontier.rescore(dict.fromkeys(first, BEST_SCORE))
