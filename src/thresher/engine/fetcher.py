"""The fetcher of a worker: fetches what the lease loop leases, and passes responses to the pipeline."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from thresher.engine.cookies import CookieChain
from thresher.engine.download.errors import FetchFailed, LeaseExpired, WorkerStopped
from thresher.engine.download.request import FetchRequest
from thresher.engine.lease_loop import BROWSER_WAIT_SECONDS, LeaseLoop, StoreFailed, WorkerContext
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage, Lease
from thresher.storage.page_store import PageRecord

if TYPE_CHECKING:
    from thresher.engine.browser.renderer import Renderer

logger = logging.getLogger(__name__)

Fetch = Callable[[FetchRequest], AbstractAsyncContextManager[FetchedPage]]
"""Gives the page of a request for the duration of a block; raises `FetchFailed`."""


class Fetcher:
    """Fetches and settles leases until nothing more can come.

    Attributes:
        pages: How many pages were stored.
        is_draining: Whether no more leases are taken.
    """

    def __init__(self, context: WorkerContext, loop: LeaseLoop, fetch: Fetch) -> None:
        self.pages = 0
        self.loop = loop
        self.is_draining = False
        self._context = context
        self._fetch = fetch
        self._leasing: asyncio.Task[None] | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Fetch until nothing more can come, or until all fetches that were open at `drain` are settled.

        When this is cancelled, open fetches are aborted; their leases stay open.
        """
        self._leasing = asyncio.create_task(self._start_fetches())
        try:
            while tasks := [task for task in (self._leasing, *self._open) if not task.done()]:
                await asyncio.wait(tasks)
        finally:
            tasks = [self._leasing, *self._open]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def drain(self) -> None:
        """Take no more leases; open fetches go on."""
        self.is_draining = True
        if self._leasing:
            self._leasing.cancel()

    async def _start_fetches(self) -> None:
        async for request in self.loop.requests():
            task = asyncio.create_task(self.fetch(request))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

    async def fetch(self, request: FetchRequest) -> None:
        """Fetch a request and settle its lease; when the store fails, the worker drains."""
        try:
            try:
                await self._fetch_chain(request)
            except StoreFailed:
                raise
            except FetchFailed as failure:
                await self._take_failure(request, failure)
            except Exception as error:
                logger.exception("cannot fetch: %s", request.url)
                await self._take_failure(request, FetchFailed(ReasonKind.EXCEPTION, type(error).__name__))
        except StoreFailed:
            self.drain()

    async def _fetch_chain(self, request: FetchRequest) -> None:
        """Fetch a request, and within its lease the redirects that need the cookies of the one before."""
        chain = CookieChain(request.lease)
        following: FetchRequest | None = request
        while following:
            async with self._fetch(following) as page:
                if request.is_robots:
                    await self.loop.take_robots(request, page)
                    return
                following = await self._following(request, chain, page)
                if following is None:
                    await self.take_page(request.lease, chain.result(page))
            if following:
                await asyncio.sleep(await self.loop.delay_seconds(following.url))

    async def _following(self, request: FetchRequest, chain: CookieChain, page: FetchedPage) -> FetchRequest | None:
        """Return the next request of a chain, or None when it has ended.

        Raises:
            FetchFailed: The lease would end before.
        """
        lease = request.lease
        if not lease.kind.is_page or not (target := chain.next_target(page)):
            return None
        if not await self.loop.allows(lease, target):
            return None
        if time.monotonic() + await self.loop.delay_seconds(target) > request.start_by:
            raise FetchFailed(ReasonKind.SLOW_REDIRECTS, retry=False)
        headers = request.headers if target == lease.url else {}
        return replace(request, url=target, headers=headers, cookies=chain.cookies())

    async def take_page(self, lease: Lease, page: FetchedPage) -> None:
        """Process a response, rendered first if the crawl uses a browser."""
        browser = self._context.browser
        settling = self._render(browser, lease, page) if browser else self._process(lease, page)
        record = await self.loop.settle(lease, settling)
        self.pages += bool(record and record.page)
        if self._context.script_notice and record and record.page:
            await self._context.script_notice.check(lease, page)

    async def _process(self, lease: Lease, page: FetchedPage) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        if opt_outs := await self.loop.robots_opt_outs(lease.url):
            page = replace(page, robots_opt_outs=opt_outs)
        return await self._context.processor.process(lease, page, delay_seconds=delay_seconds)

    async def _render(self, browser: Renderer, lease: Lease, page: FetchedPage) -> PageRecord | None:
        """Process a page as a reader would see it; one that cannot be rendered now is released."""
        rendered = await browser.render_if_needed(lease, page, until=self.loop.end_of(lease))
        if isinstance(rendered, FetchedPage):
            return await self._process(lease, rendered)
        if rendered:
            return await self._fail(lease, rendered, retry=True)
        delay_seconds = max(await self.loop.delay_seconds(lease.url), BROWSER_WAIT_SECONDS)
        await self._context.processor.frontier.release([lease], delay_seconds=delay_seconds)
        return None

    async def _take_failure(self, request: FetchRequest, failure: FetchFailed) -> None:
        """Settle a lease for which no response came."""
        lease = request.lease
        if request.is_robots:
            await self.loop.take_robots(request, failure)
        elif isinstance(failure, LeaseExpired):  # no request was sent
            await self.loop.settle(lease, self._context.processor.frontier.release([lease]))
        elif isinstance(failure, WorkerStopped):
            delay_seconds = await self.loop.delay_seconds(lease.url)
            release = self._context.processor.frontier.release
            await self.loop.settle(lease, release([lease], delay_seconds=delay_seconds))
        else:
            await self.loop.settle(lease, self._fail(lease, failure.reason, retry=failure.retry))

    async def _fail(self, lease: Lease, reason: Reason, *, retry: bool) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        fail = self._context.processor.fail
        return await fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)
