"""Where the desk stands in Scrapy: around what a spider starts with and yields, and before its callbacks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from thresher.engine.addon_desk import Desk
from thresher.engine.addon_items import ItemWatch
from thresher.engine.addon_office import Office

logger = logging.getLogger(__name__)

MOST_CHARACTERS = 200
"""Of the words of an error that are kept."""
CANCEL_SECONDS = 0.2
"""A task may miss that it is cancelled, when what it waits for comes at that moment; then it is told again."""
_END = object()


class TopicalSpiderMiddleware:
    """Takes what a spider starts with and yields, and gives it its requests in topical order.

    It stands next to the engine: other middlewares see requests and items before it does.
    """

    def __init__(self, crawler: Crawler, office: Office) -> None:
        self._office = office
        self._items = ItemWatch(crawler.signals)
        self._yielding: set[int] = set()
        self._settling: set[asyncio.Future[None]] = set()
        self._tasks: list[asyncio.Task[None]] = []
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it as Scrapy asks."""
        return cls(crawler, Office.of(crawler))

    async def _closed(self) -> None:
        while pending := [task for task in self._tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=CANCEL_SECONDS)
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self._office.close()

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Let start requests into the frontier, and yield what is leased until nothing more can come."""
        desk = self._office.open()
        await self._office.reopen_refused()
        ready: asyncio.Queue[Any] = asyncio.Queue()
        taking, leasing = self._take_starts(desk, start, ready), _lease(desk, ready)
        self._tasks = [asyncio.create_task(taking), asyncio.create_task(leasing)]
        while (thing := await ready.get()) is not _END:
            yield thing
        if desk.fatal is not None:
            raise CloseSpider(f"thresher: {desk.fatal}")

    async def _take_starts(self, desk: Desk, start: AsyncIterator[Any], ready: asyncio.Queue[Any]) -> None:
        try:
            async for thing in start:
                if isinstance(thing, Request):
                    await desk.add_starts([thing], self._office.strategy)
                else:
                    ready.put_nowait(thing)
        except Exception:  # what was taken in before it is crawled all the same
            logger.exception("the spider's start() broke off")
        finally:
            desk.more_starts = False

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Let items through, and take requests in; when all items have ended, the page is done."""
        desk = self._office.desk
        if desk is None:
            async for thing in result:
                yield thing
            return
        found: list[Request] = []
        self._yielding.add(id(response))
        try:
            async for thing in result:
                if isinstance(thing, Request):
                    found.append(thing)
                elif thing is not None:
                    self._items.begins(response)
                    yield thing
        except Exception as error:
            await self._done(desk, response, found, error)
            raise
        finally:
            self._yielding.discard(id(response))
        await self._done(desk, response, found)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Settle the page of a callback that broke before it yielded anything."""
        desk = self._office.desk
        if desk and id(response) not in self._yielding and desk.lease_of(response.request):
            task = asyncio.ensure_future(self._done(desk, response, [], exception))
            self._settling.add(task)
            task.add_done_callback(self._settling.discard)

    async def _done(
        self, desk: Desk, response: Response, found: Sequence[Request], error: Exception | None = None
    ) -> None:
        await self._items.all_ended(response)
        lease = desk.lease_of(response.request)
        if lease is None:
            await desk.add_loose(found, None)
            return
        broke = error is not None and not isinstance(error, CloseSpider)
        failure = f"the callback raised {type(error).__name__}: {error}"[:MOST_CHARACTERS] if broke else ""
        await desk.page_done(lease, found, response, failure)


async def _lease(desk: Desk, ready: asyncio.Queue[Any]) -> None:
    try:
        async for request in desk.start():
            ready.put_nowait(request)
    finally:
        ready.put_nowait(_END)


class TopicalDownloaderMiddleware:
    """Judges answers before callbacks see them; redirects and busy servers go back to the frontier."""

    def __init__(self, office: Office) -> None:
        self._office = office

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build it as Scrapy asks."""
        return cls(Office.of(crawler))

    def process_request(self, request: Request) -> None:
        """Begin nothing that could outlast its lease."""
        if self._office.desk:
            self._office.desk.check_time(request)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Judge an answer."""
        if self._office.desk:
            response.request = request  # as Scrapy will say, after the last middleware
            await self._office.desk.look_at(request, response)
        return response
