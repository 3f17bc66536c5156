"""The status of a crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from thresher.charts.html import html_table
from thresher.coordination.last_run import RunEnd, last_run_end
from thresher.feedback.forecast import read_forecast
from thresher.feedback.topic_counts import TopicStatus, read_topics
from thresher.frontier.base import Counts
from thresher.monitoring.failures import FailureGroup, FailureReport, failure_report
from thresher.monitoring.totals import Totals
from thresher.project import CrawlProject
from thresher.records import Forecast

if TYPE_CHECKING:
    from thresher.collection.status import CollectionStatus


@dataclass(frozen=True, kw_only=True)
class Status:
    """The status of a crawl.

    Args:
        running: Whether a run is under way on this machine.
        pages: Pages in the page store.
        duplicates: Those with the text of an earlier page.
        relevant: Relevant pages by the current verdicts, without duplicates.
        expected: The sum of the relevance of all pages; None where pages are stored on other machines.
        provisional: Whether the judge has seen too few pages for stable verdicts.
        waiting: URLs in the queue.
        failed: URLs that gave no page.
        forecast: How many of the waiting URLs lead to relevant pages, as an interval; None when unknown.
        ended: How the last run ended, with a code for programs; None before the first.
        topics: The status of each topic of a crawl of several.
        failures: Why URLs gave no page, by reason, those with most URLs first.
        blocked: How many of the failed URLs gave a block page, by its kind.
        collection: How much is in the collection, and how much waits for its upload; None without a collection.
    """

    running: bool
    pages: int
    duplicates: int
    relevant: int
    expected: float | None
    provisional: bool
    waiting: int
    leased: int
    done: int
    failed: int
    hosts: int
    parked: int
    forecast: Forecast | None
    ended: RunEnd | None
    failures: Sequence[FailureGroup]
    topics: Sequence[TopicStatus] = ()
    blocked: Mapping[str, int] = field(default_factory=dict)
    collection: CollectionStatus | None = None

    @property
    def harvest_rate(self) -> float:
        """Relevant pages divided by pages."""
        return self.relevant / self.pages if self.pages else 0.0

    def _repr_html_(self) -> str:
        listed = ("ended", "failures", "topics", "blocked", "collection")
        numbers = {name: value for name, value in asdict(self).items() if name not in listed}
        numbers["forecast"] = self.forecast.interval if self.forecast else None
        rows = [*numbers.items(), ("harvest_rate", self.harvest_rate)]
        rows += [(f"relevant to {topic.name}", topic.relevant) for topic in self.topics]
        rows += [(f"blocked: {kind}", number) for kind, number in self.blocked.items()]
        rows += [("last run", self.ended.words)] if self.ended else []
        rows += [("collection", self.collection.words)] if self.collection else []
        return html_table(["", ""], [*rows, *(("not fetched", str(group)) for group in self.failures[:3])])


async def status_of(crawl: CrawlProject) -> Status:
    """Read the status from the frontier and the page store."""
    is_running = bool(crawl.folder.runner())
    counts, forecast, ended, failures, topics = await _read(crawl, is_running=is_running)
    return Status(
        running=is_running,
        pages=counts.pages,
        duplicates=counts.duplicates,
        relevant=counts.relevant,
        expected=counts.expected,
        provisional=counts.is_provisional,
        waiting=counts.waiting,
        leased=counts.leased,
        done=counts.done,
        failed=counts.failed,
        hosts=counts.hosts,
        parked=counts.parked,
        forecast=forecast,
        ended=ended,
        failures=failures.groups,
        blocked=failures.blocked,
        topics=topics,
        collection=await crawl.collection_status(),
    )


async def _read(
    crawl: CrawlProject, *, is_running: bool
) -> tuple[Counts, Forecast | None, RunEnd | None, FailureReport, list[TopicStatus]]:
    frontier = crawl.frontier_reader()
    try:
        counts = await Totals(crawl.counted_pages).read(frontier)
        return (
            counts,
            await read_forecast(frontier, counts),
            await last_run_end(frontier, is_running=is_running or crawl.is_shared),
            await failure_report(frontier),
            await read_topics(frontier, counts, crawl.topic_pages, crawl.counted_pages),
        )
    finally:
        await frontier.close()
