"""A crawl in numbers, now."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from thresher.api.markup import table
from thresher.archive.collection import Collection
from thresher.build import Crawl
from thresher.frontier.base import Counts
from thresher.outlook import look_ahead
from thresher.records import Forecast


@dataclass(frozen=True, kw_only=True)
class Status:
    """How a crawl stands.

    Args:
        running: Whether a run is under way on this machine.
        pages: Pages in the collection.
        relevant: Relevant ones among them, as they are judged now.
        waiting: URLs in the queue.
        failed: URLs that brought no page.
        expected_left: Relevant pages that the strategy expects among what waits; None where it cannot tell.
    """

    running: bool
    pages: int
    relevant: int
    waiting: int
    leased: int
    done: int
    failed: int
    hosts: int
    parked: int
    expected_left: float | None

    @property
    def harvest_rate(self) -> float:
        """The share of relevant pages."""
        return self.relevant / self.pages if self.pages else 0.0

    def _repr_html_(self) -> str:
        return table(["", ""], [*asdict(self).items(), ("harvest_rate", self.harvest_rate)])


async def status_of(crawl: Crawl) -> Status:
    """Look at the queue and the page store."""
    counts, forecast = await _look(crawl)
    relevant = counts.relevant
    if not crawl.is_shared:
        with Collection(crawl.folder.pages) as collection:  # the frontier counted them as they were judged first
            relevant = collection.relevant_pages()
    return Status(
        running=bool(crawl.folder.runner()),
        pages=counts.pages,
        relevant=relevant,
        waiting=counts.waiting,
        leased=counts.leased,
        done=counts.done,
        failed=counts.failed,
        hosts=counts.hosts,
        parked=counts.parked,
        expected_left=forecast.left if forecast else None,
    )


async def _look(crawl: Crawl) -> tuple[Counts, Forecast | None]:
    frontier = crawl.frontier()
    try:
        return await frontier.counts(), await look_ahead(frontier)
    finally:
        await frontier.close()
