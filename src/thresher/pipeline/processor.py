"""What the engine needs of the part that takes its responses: a pipeline, or a collector that stores nothing."""

from __future__ import annotations

from typing import Protocol

from thresher.frontier.base import CrawlStore
from thresher.records import FetchedPage, Lease
from thresher.storage.page_store import PageRecord


class ResponseProcessor(Protocol):
    """Takes the responses of leases, and settles the leases in its frontier."""

    @property
    def frontier(self) -> CrawlStore: ...

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> PageRecord | None:
        """Process a response; return what was stored, if anything."""
        ...

    async def fail(
        self, lease: Lease, reason: str, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> PageRecord | None:
        """Settle a lease without a response."""
        ...

    async def close(self) -> None: ...
