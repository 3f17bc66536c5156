"""Middlewares that connect the bridge to Scrapy: around a spider's start and output, and before its callbacks.

A page is done when all its items have passed the item pipelines.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.signalmanager import SignalManager

from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher_scrapy.bridge import SpiderBridge
from thresher_scrapy.session import AddonSession

logger = logging.getLogger(__name__)

MAX_CHARACTERS = 200
"""Maximum length of a stored error message."""
CANCEL_SECONDS = 0.2
"""A task may miss its cancellation when the result it awaits arrives at that moment; then it is cancelled again."""
_END = object()


@dataclass
class _Page:
    """Items of one response that are still in the item pipelines."""

    response: Any
    left: int = 0
    none_left: asyncio.Event = field(default_factory=asyncio.Event)


class ItemWatch:
    """Tracks items until they end: scraped, dropped, or failed in a pipeline."""

    def __init__(self, sent: SignalManager) -> None:
        self._pages: dict[int, _Page] = {}
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            sent.connect(self._ended, signal)

    def begins(self, response: Any) -> None:
        """Count one more item of a response."""
        page = self._pages.setdefault(id(response), _Page(response))
        page.left += 1
        page.none_left.clear()

    async def all_ended(self, response: Any) -> None:
        """Wait until all items of a response have ended."""
        if page := self._pages.get(id(response)):
            await page.none_left.wait()
            del self._pages[id(response)]

    def _ended(self, response: Any = None) -> None:
        if page := self._pages.get(id(response)):
            page.left -= 1
            if page.left <= 0:
                page.none_left.set()


class TopicalSpiderMiddleware:
    """Adds the requests of a spider to the frontier, and passes them back in topical order.

    It is next to the engine: other middlewares see requests and items before it does.
    """

    def __init__(self, crawler: Crawler, session: AddonSession) -> None:
        self._session = session
        self._items = ItemWatch(crawler.signals)
        self._yielding: set[int] = set()
        self._settling: set[asyncio.Future[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, AddonSession.of(crawler))

    async def _closed(self) -> None:
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=CANCEL_SECONDS)
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self._session.close()

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Add start requests to the frontier, and yield leased requests until none can follow."""
        bridge = self._session.open()
        await self._session.reopen_refused()
        ready: asyncio.Queue[Any] = asyncio.Queue()
        taking, leasing = self._take_starts(bridge, start, ready), _lease(bridge, ready)
        self._tasks = [asyncio.create_task(taking), asyncio.create_task(leasing)]
        while (output := await ready.get()) is not _END:
            yield output
        if bridge.loop.fatal is not None:
            raise CloseSpider(f"thresher: {bridge.loop.fatal}")

    async def _take_starts(self, bridge: SpiderBridge, start: AsyncIterator[Any], ready: asyncio.Queue[Any]) -> None:
        try:
            async for output in start:
                if isinstance(output, Request):
                    await bridge.add_starts([output], self._session.strategy)
                else:
                    ready.put_nowait(output)
        except Exception:  # requests that were added before are crawled anyway
            logger.exception("the spider's start() raised an exception")
        finally:
            bridge.more_starts = False

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Pass items on, and collect requests; when all items have ended, the page is done."""
        bridge = self._session.bridge
        if bridge is None:
            async for output in result:
                yield output
            return
        requests: list[Request] = []
        self._yielding.add(id(response))
        try:
            async for output in result:
                if isinstance(output, Request):
                    requests.append(output)
                elif output is not None:
                    self._items.begins(response)
                    yield output
        except Exception as error:
            await self._done(bridge, response, requests, error)
            raise
        finally:
            self._yielding.discard(id(response))
        await self._done(bridge, response, requests)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Settle the page of a callback that failed before it yielded anything."""
        bridge = self._session.bridge
        if bridge and id(response) not in self._yielding and bridge.lease_of(response.request):
            task = asyncio.ensure_future(self._done(bridge, response, [], exception))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def _done(
        self, bridge: SpiderBridge, response: Response, requests: Sequence[Request], error: Exception | None = None
    ) -> None:
        await self._items.all_ended(response)
        lease = bridge.lease_of(response.request)
        if lease is None:
            await bridge.add_requests(requests, None)
            return
        failed = error is not None and not isinstance(error, CloseSpider)
        raised = f"the callback raised {type(error).__name__}: {error}"[:MAX_CHARACTERS]
        failure = Reason.of(ReasonKind.SPIDER, raised) if failed else NO_REASON
        await bridge.page_done(lease, requests, response, failure)


async def _lease(bridge: SpiderBridge, ready: asyncio.Queue[Any]) -> None:
    try:
        async for request in bridge.requests():
            ready.put_nowait(request)
    finally:
        ready.put_nowait(_END)


class TopicalDownloaderMiddleware:
    """Judges responses before callbacks see them; redirects and busy servers go back to the frontier."""

    def __init__(self, session: AddonSession) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(AddonSession.of(crawler))

    def process_request(self, request: Request) -> None:
        """Send no request that could outlast its lease; report the others."""
        if self._session.bridge:
            self._session.bridge.begin(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        if self._session.bridge:
            response.request = request  # as Scrapy sets it after the last middleware
            await self._session.bridge.process_response(request, response)
        return response
