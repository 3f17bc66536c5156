"""The lease loop: `start()` leases what may be fetched now, callbacks hand what came back to the line.

There is no request per discovered link and no scheduler of our own: links go to the frontier as records, and only a
leased URL becomes a Scrapy request. A host whose robots.txt is not known yet spends its first lease on fetching
that, and its URL goes back to wait for the host's delay like any other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from twisted.python.failure import Failure

from thresher.engine.convert import failure_reason, fetched_page
from thresher.engine.robots import MAX_REDIRECTS, UNREACHABLE_SECONDS, RobotsFile, RobotsKeeper, robots_url
from thresher.line import Line
from thresher.parse.answers import AnswerKind, read_answer
from thresher.records import Lease
from thresher.urls.host import host_key

logger = logging.getLogger(__name__)

LONGEST_NAP_SECONDS = 0.5
"""Other workers add URLs without telling us, so nobody sleeps longer than this."""

PATIENCE_SECONDS = 180.0
"""A run does not wait for hosts that rest longer than this; a later one will find them."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one worker is to do, and with what.

    Args:
        robots: None when robots.txt is ignored.
        pages: Stop when the crawl has this many pages.
    """

    line: Line
    robots: RobotsKeeper | None
    worker: str
    concurrency: int = 32
    lease_seconds: float = 60.0
    timeout_seconds: float = 30.0
    delay_seconds: float = 2.0
    longest_crawl_delay_seconds: float = 60.0
    pages: int | None = None


class LeaseSpider(scrapy.Spider):
    """Fetches what the frontier leases, and hands it to the line."""

    name = "thresher"

    def __init__(self, *, work: Work, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._work = work
        self._line = work.line
        self._frontier = work.line.frontier
        self.open: dict[int, Lease] = {}
        self.fatal: Exception | None = None
        self._news = asyncio.Event()

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Lease and request until nothing more can come."""
        while True:
            self._news.clear()
            if self._room < self._worth_asking:
                await self._wait(LONGEST_NAP_SECONDS)
                continue
            leases = await self._grant()
            for lease in leases:
                if request := await self._request(lease):
                    yield request
            if not leases:
                nap = await self._nap_seconds()
                if nap is None:
                    return
                await self._wait(nap)

    @property
    def _room(self) -> int:
        return self._work.concurrency - len(self.open)

    @property
    def _worth_asking(self) -> int:
        """How much room makes a question to the store worth its cost."""
        return max(1, self._work.concurrency // 8)

    async def _grant(self) -> list[Lease]:
        """Lease as much as there is room for; a grant that we are stopped during is still known, to be given back."""
        return await asyncio.shield(asyncio.ensure_future(self._lease()))

    async def _lease(self) -> list[Lease]:
        work = self._work
        leases = await self._frontier.lease(
            self._room, seconds=work.lease_seconds, worker=work.worker, pages=work.pages
        )
        self.open.update((lease.fence, lease) for lease in leases)
        return leases

    async def _nap_seconds(self) -> float | None:
        """Return how long to wait for news; None when the crawl is over for us."""
        if self._work.pages is not None and (await self._frontier.counts()).pages >= self._work.pages:
            return None
        seconds = await self._frontier.seconds_to_next()
        if self.open:
            return LONGEST_NAP_SECONDS
        if seconds is None or seconds > PATIENCE_SECONDS:
            return None
        return min(max(seconds, 0.005), LONGEST_NAP_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    async def _request(self, lease: Lease) -> scrapy.Request | None:
        """Turn a lease into a request: for the page, or for the rules of its host."""
        if self._work.robots is None:
            return self._page_request(lease)
        rules = await self._work.robots.file_for(lease.url)
        if rules is None:
            return self._robots_request(robots_url(lease.url), lease, hops=0)
        return await self._page_request_by(rules, lease)

    async def _page_request_by(self, rules: RobotsFile, lease: Lease) -> scrapy.Request | None:
        if rules.unreachable:
            await self._leave_alone(lease, "robots.txt cannot be read", seconds=UNREACHABLE_SECONDS)
        elif rules.crawl_delay_seconds > self._work.longest_crawl_delay_seconds:
            await self._leave_alone(lease, f"asks for a delay of {rules.crawl_delay_seconds:g} s")
        elif not rules.allows(lease.url):
            await self._settled(lease, self._line.fail(lease, "robots.txt", at=time.time()))
        else:
            return self._page_request(lease)
        return None

    def _page_request(self, lease: Lease) -> scrapy.Request:
        return self._make_request(lease.url, lease, self.take_page, self.take_failure)

    def _robots_request(self, url: str, lease: Lease, *, hops: int) -> scrapy.Request:
        return self._make_request(url, lease, self.take_robots, self.take_robots_failure, hops=hops)

    def _make_request(self, url: str, lease: Lease, callback: Any, errback: Any, **more: Any) -> scrapy.Request:
        return scrapy.Request(
            url,
            callback=callback,
            errback=errback,
            cb_kwargs={"lease": lease, **more},
            meta={"download_timeout": self._work.timeout_seconds, "handle_httpstatus_all": True},
            dont_filter=True,
        )

    async def take_page(self, response: Response, lease: Lease) -> None:
        """Hand an answer to the line."""
        delay_seconds = await self._delay_seconds(lease.url)
        page = fetched_page(response, lease.url)
        await self._settled(lease, self._line.process(lease, page, delay_seconds=delay_seconds))

    async def take_failure(self, failure: Failure) -> None:
        """Settle a lease for which no answer came."""
        lease: Lease = failure.request.cb_kwargs["lease"]  # type: ignore[attr-defined]
        reason, retry = failure_reason(failure.value)
        if why := self._refused(lease.url):
            reason, retry = f"refused: {why}", False
        delay_seconds = await self._delay_seconds(lease.url)
        failed = self._line.fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)
        await self._settled(lease, failed)

    async def take_robots(self, response: Response, lease: Lease, hops: int) -> scrapy.Request | None:
        """Learn the rules of a host; the lease that paid for it goes back."""
        answer = read_answer(fetched_page(response, response.url))
        if answer.kind is AnswerKind.REDIRECT and hops < MAX_REDIRECTS:
            if host_key(answer.target) == lease.host:
                await asyncio.sleep(self._work.delay_seconds)
            return self._robots_request(answer.target, lease, hops=hops + 1)
        status = 404 if 300 <= response.status < 400 else response.status  # too many redirects: no rules
        await self._learned(lease, status, response.body)
        return None

    async def take_robots_failure(self, failure: Failure) -> None:
        """Note that the rules of a host cannot be read now."""
        lease: Lease = failure.request.cb_kwargs["lease"]  # type: ignore[attr-defined]
        if why := self._refused(lease.url):
            await self._settled(lease, self._line.fail(lease, f"refused: {why}", at=time.time()))
        else:
            logger.warning("no robots.txt: %s: %s", lease.url, failure_reason(failure.value)[0])
            await self._learned(lease, 0, b"")

    async def _learned(self, lease: Lease, status: int, body: bytes) -> None:
        assert self._work.robots is not None
        await self._work.robots.learn(lease.url, status, body)
        delay_seconds = await self._delay_seconds(lease.url)
        await self._settled(lease, self._frontier.release([lease], delay_seconds=delay_seconds))

    async def _leave_alone(self, lease: Lease, reason: str, *, seconds: float | None = None) -> None:
        await self._frontier.park(lease.host, reason, seconds=seconds)
        await self._settled(lease, self._frontier.release([lease]))

    async def _settled(self, lease: Lease, settling: Any) -> None:
        """Wait until a lease is settled; then there is room for another."""
        try:
            await settling
        except Exception as error:  # the store is the one part without which nothing can go on
            logger.exception("cannot settle: %s", lease.url)
            self.fatal = error
            raise CloseSpider("the store failed") from error
        finally:
            self._news.set()
        self.open.pop(lease.fence, None)

    async def _delay_seconds(self, url: str) -> float:
        asked = 0.0
        if self._work.robots is not None and (rules := await self._work.robots.file_for(url)):
            asked = rules.crawl_delay_seconds
        return max(self._work.delay_seconds, asked)

    def _refused(self, url: str) -> str:
        """Say why the address guard refused a URL's host; empty when it did not."""
        from twisted.internet import reactor

        guard = getattr(getattr(reactor, "nameResolver", None), "guard", None)
        name = host_key(url).rpartition(":")[0] or host_key(url)
        return guard.refused.get(name.strip("[]"), "") if guard else ""

    async def give_back(self) -> None:
        """Return the leases that were not settled, when the worker stops."""
        leases, self.open = list(self.open.values()), {}
        await self._frontier.release(leases)
