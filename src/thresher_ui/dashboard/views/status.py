"""The status of a crawl, and what the dashboard knows besides: the speed, the limits of a run, what can be done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from thresher.coordination.run_control import initial_limits
from thresher.feedback.labels import Label, verdicts
from thresher.feedback.topic_counts import TopicStatus
from thresher.frontier.base import Counts
from thresher.monitoring.failures import FailureReport
from thresher.monitoring.totals import with_tally
from thresher.runner.limits import HARVEST_PAGES
from thresher.status import CrawlState, CrawlStatus, SpeedLimit, StatusReader, descriptions, read_status
from thresher_ui.dashboard.api.responses import StatusResponse
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.page_index import IndexedPages

if TYPE_CHECKING:
    from thresher.collection.status import CollectionStatus

SHOWN = tuple(name for name in StatusResponse.model_fields if name in descriptions(CrawlStatus))
"""What is shown of a `CrawlStatus`."""
_SPEED_SECONDS = 5.0
_FAILURES_SECONDS = 3.0
_TOPICS_SECONDS = 3.0


class _CachedParts(StatusReader):
    """Reads the parts that are shown, and keeps for some seconds those that are slow."""

    def __init__(self, open_crawl: OpenCrawl) -> None:
        super().__init__(open_crawl.crawl, open_crawl.resources)
        self._open_crawl = open_crawl

    async def counts(self) -> Counts:
        counts, pages = await self.frontier.counts(), await self._open_crawl.pages()
        # the frontier counts first verdicts, the page store current ones
        return with_tally(counts, pages.tally) if self.crawl.backend.has_all_pages else counts

    async def topics(self, counts: Counts) -> Sequence[TopicStatus]:
        """Read the topics, cached: the whole page store is counted."""
        read = super().topics
        topics: Sequence[TopicStatus] = await self._open_crawl.cache.get(
            "topics", lambda: read(counts), seconds=_TOPICS_SECONDS
        )
        return topics

    async def failures(self) -> FailureReport:
        """Read the failures, cached: with many of them this is the slowest query."""
        report: FailureReport = await self._open_crawl.cache.get(
            "failures", super().failures, seconds=_FAILURES_SECONDS
        )
        return report

    async def collection(self) -> CollectionStatus | None:
        return self._open_crawl.collection

    async def interval(self, counts: Counts) -> None:
        """Not shown."""

    async def other_languages(self) -> None:
        """Not shown."""


async def status(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return the status of a crawl."""
    reported = await read_status(_CachedParts(open_crawl))
    pages, is_running = await open_crawl.pages(), reported.state is not CrawlState.STOPPED
    open_crawl.pace.add_sample(time.monotonic(), reported)
    values = reported.as_json()
    if values["limit"]["code"] is SpeedLimit.BUSY:  # a run that has just begun has not published its workers
        values["limit"]["number"] = max(1, reported.busy)
    return {
        **{name: values[name] for name in SHOWN},
        "name": open_crawl.name,
        "topics": [
            {**topic, "complete": each.is_complete}
            for topic, each in zip(values["topics"], reported.topics, strict=True)
        ],
        "pages_per_second": _speed(open_crawl, pages.since(time.time() - _SPEED_SECONDS)) if is_running else 0.0,
        "budgets": await _budgets(open_crawl, reported, pages),
        "labels": _label_counts(await open_crawl.labels()),
        "can": _can(open_crawl, reported.state),
    }


async def _budgets(open_crawl: OpenCrawl, reported: CrawlStatus, pages: IndexedPages) -> dict[str, Any]:
    """Return the limits of the current run, or those of the next one, and how much of each is used."""
    limits, minutes = open_crawl.crawl.config.stop.model_dump(), 0.0
    if reported.state is not CrawlState.STOPPED:
        limits |= (await initial_limits(open_crawl.frontier_reader)).limits() | reported.run_control.limits()
        minutes = await open_crawl.resources.run.seconds() / 60
    used = {
        "pages": reported.pages,
        "relevant": reported.relevant,
        "minutes": minutes,
        "harvest_below": open_crawl.pace.harvest() if reported.shared else pages.harvest(HARVEST_PAGES),
    }
    return {name: {"limit": limits.get(name), "used": used[name]} for name in used}


def _label_counts(labels: list[Label]) -> dict[str, int]:
    given = list(verdicts(labels).values())
    return {"yes": given.count(True), "no": given.count(False)}


def _speed(open_crawl: OpenCrawl, recent_pages: int) -> float:
    """Return the pages per second of the last seconds; without two samples, from the fetch times of the pages."""
    samples = open_crawl.pace.samples
    if len(samples) > 1 and samples[-1][0] - samples[-2][0] < _SPEED_SECONDS:
        return open_crawl.pace.pages_per_second(over=_SPEED_SECONDS)
    return recent_pages / _SPEED_SECONDS


def _can(open_crawl: OpenCrawl, state: CrawlState) -> list[str]:
    if state is CrawlState.STOPPED:
        return ["start"] if open_crawl.is_startable else []
    return ["resume" if state is CrawlState.PAUSED else "pause", "stop", "budgets"]
