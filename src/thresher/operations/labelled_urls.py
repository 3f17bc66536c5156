"""Labelled URLs: the state of each, and queueing those that were not crawled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from thresher.assembly import build_strategy
from thresher.crawl import CrawlSetup
from thresher.errors import ConfigError
from thresher.feedback.labels import Label
from thresher.frontier.base import Frontier, UrlState
from thresher.locale.translation import _
from thresher.reasons.reason import NO_REASON, describe
from thresher.storage.page_store import PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.strategies.base import seed_candidates
from thresher.urls.canonical import fingerprint

BEST_SCORE = 1.0
"""Score of a waiting URL with a yes, as of a seed."""


class UrlStatus(StrEnum):
    """The state of a labelled URL.

    FETCHED has a page, NO_PAGE was tried and has none, WAITING was in the queue, QUEUED was queued by the label.
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
        relevant: The label; None when it was removed.
        reason: Why there is no page.
    """

    url: str
    relevant: bool | None
    status: UrlStatus
    reason: str = ""


async def look_up(crawl: CrawlSetup, frontier: Frontier, label: Label) -> LabelledUrl:
    """Return the state of a labelled URL.

    Raises:
        ConfigError: It was not fetched, and is outside the scope.
    """
    entry, record = await frontier.find(label.url), await asyncio.to_thread(_stored, crawl, label.url)
    status, reason = UrlStatus.UNKNOWN, NO_REASON
    if record is not None and record.page:
        status = UrlStatus.FETCHED
    elif entry and entry.state in (UrlState.WAITING, UrlState.LEASED):
        status = UrlStatus.WAITING
    elif record is not None or (entry and entry.state is UrlState.FAILED):
        status, reason = UrlStatus.NO_PAGE, record.reason if record else entry.reason if entry else NO_REASON
    elif entry:  # another machine has its page
        status = UrlStatus.FETCHED
    elif label.relevant is not None:
        if why := crawl.rules().scope.allows(label.url, 0):
            raise ConfigError(
                _(
                    "{url} is outside the scope of this crawl: {reason}; nothing was labelled",
                    url=label.url,
                    reason=_(why),
                )
            )
        status = UrlStatus.QUEUED if label.relevant else UrlStatus.UNKNOWN
    return LabelledUrl(url=label.url, relevant=label.relevant, status=status, reason=describe(reason))


def _stored(crawl: CrawlSetup, url: str) -> PageRecord | None:
    with PageStoreReader(crawl.folder.pages) as collection:
        return collection.find(fingerprint(url))


async def queue_labelled(crawl: CrawlSetup, frontier: Frontier, urls: Sequence[LabelledUrl]) -> None:
    """Queue new URLs with a yes like seeds, and move waiting ones to the front."""
    new = [each.url for each in urls if each.status is UrlStatus.QUEUED]
    if new:
        await frontier.add(seed_candidates(build_strategy(crawl), new))
    if first := [each.url for each in urls if each.status is UrlStatus.WAITING and each.relevant]:
        await frontier.rescore(dict.fromkeys(first, BEST_SCORE))
