"""The spider of a worker: requests what the lease loop leases, and passes responses to the pipeline."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.http import Response
from twisted.python.failure import Failure

from thresher.engine.dns.resolver import why_refused
from thresher.engine.download.handler import LeaseExpired, SlowHostLimiter, failure_reason, fetched_page
from thresher.engine.lease_loop import BROWSER_WAIT_SECONDS, LeaseLoop, LoopHooks, WorkerContext
from thresher.records import FetchedPage, Lease
from thresher.storage.page_store import PageRecord

if TYPE_CHECKING:
    from thresher.engine.browser.renderer import Renderer


class LeaseSpider(scrapy.Spider):
    """Fetches what the frontier leases."""

    name = "thresher"

    def __init__(self, *, context: WorkerContext, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.pages = 0
        self.loop = LeaseLoop(context, LoopHooks(page_request=self._page_request))
        self._context = context

    @property
    def slow_hosts(self) -> SlowHostLimiter:
        """The download handler reports the time of every fetch here."""
        return self.loop.slow_hosts

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Yield requests until nothing more can come."""
        async for request in self.loop.requests():
            yield request

    def _page_request(self, lease: Lease) -> scrapy.Request:
        return self.loop.make_request(lease.url, lease, self.take_page, self.take_failure)

    async def take_page(self, response: Response, lease: Lease) -> None:
        """Process a response, rendered first if the crawl uses a browser."""
        page, browser = fetched_page(response, lease.url), self._context.browser
        settling = self._render(browser, lease, page) if browser else self._process(lease, page)
        record = await self.loop.settle(lease, settling)
        self.pages += bool(record and record.page)

    async def _process(self, lease: Lease, page: FetchedPage) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        return await self._context.processor.process(lease, page, delay_seconds=delay_seconds)

    async def _render(self, browser: Renderer, lease: Lease, page: FetchedPage) -> PageRecord | None:
        """Process a page as a reader would see it; one that cannot be rendered now is released."""
        rendered = await browser.see(lease, page, until=self.loop.end_of(lease))
        if isinstance(rendered, FetchedPage):
            return await self._process(lease, rendered)
        if rendered:
            return await self._fail(lease, rendered, retry=True)
        delay_seconds = max(await self.loop.delay_seconds(lease.url), BROWSER_WAIT_SECONDS)
        await self._context.processor.frontier.release([lease], delay_seconds=delay_seconds)
        return None

    async def take_failure(self, failure: Failure) -> None:
        """Settle a lease for which no response came."""
        lease: Lease = failure.request.cb_kwargs["lease"]  # type: ignore[attr-defined]
        if isinstance(failure.value, LeaseExpired):  # no request was sent
            await self.loop.settle(lease, self._context.processor.frontier.release([lease]))
            return
        reason, retry = failure_reason(failure.value)
        if why := why_refused(lease.url):
            reason, retry = f"refused: {why}", False
        await self.loop.settle(lease, self._fail(lease, reason, retry=retry))

    async def _fail(self, lease: Lease, reason: str, *, retry: bool) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        fail = self._context.processor.fail
        return await fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)
