"""A crawl in numbers, now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from thresher.api.markup import table
from thresher.build import Crawl
from thresher.ended import Ended, last_ended
from thresher.failures import FailureGroup, FailureReport, failure_report
from thresher.frontier.base import Counts
from thresher.outlook import look_ahead
from thresher.records import Forecast
from thresher.totals import Totals


@dataclass(frozen=True, kw_only=True)
class Status:
    """How a crawl stands.

    Args:
        running: Whether a run is under way on this machine.
        pages: Pages in the collection.
        duplicates: Those of them that brought the text of another page.
        relevant: Relevant pages as they are judged now, duplicates left out.
        expected: The sum of their relevances; None where pages lie on other machines.
        provisional: Whether the judge has seen too few pages for verdicts that last.
        waiting: URLs in the queue.
        failed: URLs that brought no page.
        forecast: How many of the waiting URLs lead to relevant pages, as an interval; None where that is not known.
        ended: How the last run ended, with a code for programs; None before the first.
        failures: Why URLs brought no page, by reason, those with most URLs first.
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
    ended: Ended | None
    failures: Sequence[FailureGroup]

    @property
    def harvest_rate(self) -> float:
        """The share of relevant pages."""
        return self.relevant / self.pages if self.pages else 0.0

    def _repr_html_(self) -> str:
        numbers = {name: value for name, value in asdict(self).items() if name not in ("ended", "failures")}
        numbers["forecast"] = self.forecast.interval if self.forecast else None
        rows = [*numbers.items(), ("harvest_rate", self.harvest_rate)]
        rows += [("last run", self.ended.words)] if self.ended else []
        return table(["", ""], [*rows, *(("not fetched", str(group)) for group in self.failures[:3])])


async def status_of(crawl: Crawl) -> Status:
    """Look at the queue and the page store."""
    is_running = bool(crawl.folder.runner())
    counts, forecast, ended, failures = await _look(crawl, is_running=is_running)
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
    )


async def _look(crawl: Crawl, *, is_running: bool) -> tuple[Counts, Forecast | None, Ended | None, FailureReport]:
    frontier = crawl.look()
    try:
        counts = await Totals(crawl.counted_pages).read(frontier)
        return (
            counts,
            await look_ahead(frontier, counts),
            await last_ended(frontier, is_running=is_running or crawl.is_shared),
            await failure_report(frontier),
        )
    finally:
        await frontier.close()
