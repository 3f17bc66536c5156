"""The lease loop: `start()` leases what may be fetched now, callbacks hand what came back to the line.

There is no request per discovered link and no scheduler of our own: links go to the frontier as records, and only a
leased URL becomes a Scrapy request.

A lease is counted on this worker's monotonic clock from before it was asked for, so it ends here no later than in the
store. Nothing is begun that could outlast it. While the store cannot be reached, whoever asks it waits: nothing new
begins, what was fetched is on the disk, and its settlement is repeated until it gets through or is refused.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from twisted.python.failure import Failure

from thresher.archive.pages import PageRecord
from thresher.engine.ahead import Ahead
from thresher.engine.alive import blamed
from thresher.engine.convert import failure_reason, fetched_page
from thresher.engine.download import LeaseOver
from thresher.engine.errands import place_of
from thresher.engine.patience import WAIT_SECONDS, Patience
from thresher.engine.progress import PATIENCE_SECONDS
from thresher.engine.resolver import why_refused
from thresher.engine.robots import RobotsKeeper
from thresher.engine.robots_turn import RobotsTurn
from thresher.engine.shared_address import SharedAddress
from thresher.hearing import Hearing
from thresher.line import Bounds, Line
from thresher.records import FetchedPage, Lease, Outcome, Settlement
from thresher.refresh.told import question_headers
from thresher.warden import Warden, is_aside
from thresher.wishes import Ear, Wishes

if TYPE_CHECKING:
    from thresher.engine.browser.rendering import Rendering

logger = logging.getLogger(__name__)

LONGEST_NAP_SECONDS = 0.5
"""Other workers add URLs without telling us, so nobody sleeps longer than this."""

PLACE_SECONDS = 1.0
"""How long a host waits whose page must be rendered when there is no place in the browser."""

MARGIN_SECONDS = 3.0
"""A fetch is over so long before its lease ends, even if the worker is busy when its time is up."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one worker is to do, and with what.

    Args:
        robots: None when robots.txt is ignored.
        scope: Which URLs and hosts may be asked for; None for all.
        pages: Stop when the crawl has this many pages.
        per_address: Whether hosts with one address are asked one at a time.
        hearing: How it hears what people say of pages; None when nobody can.
        browser: Renders the pages that scripts make; None when none are rendered.
    """

    line: Line
    robots: RobotsKeeper | None
    worker: str
    scope: Bounds | None = None
    concurrency: int = 32
    lease_seconds: float = 60.0
    timeout_seconds: float = 30.0
    delay_seconds: float = 2.0
    longest_crawl_delay_seconds: float = 60.0
    pages: int | None = None
    warden: Warden | None = None
    per_address: bool = False
    hearing: Hearing | None = None
    browser: Rendering | None = None

    @property
    def longest_seconds(self) -> float:
        """How long a lease may be in use from the start of its fetch."""
        return self.timeout_seconds + (self.browser.seconds if self.browser else 0.0)


class LeaseSpider(scrapy.Spider):
    """Fetches what the frontier leases, and hands it to the line."""

    name = "thresher"

    def __init__(self, *, work: Work, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._work = work
        self._line = work.line
        self._frontier = work.line.frontier
        self.open: dict[int, Lease] = {}
        self.pages = 0
        self.fatal: Exception | None = None
        self.patience = Patience(work.concurrency)
        self._ends: dict[int, float] = {}
        self._ahead = Ahead(self._frontier, work.concurrency, scope=work.scope)
        self._address = SharedAddress(self._frontier, seconds=work.lease_seconds) if work.per_address else None
        self._robots = self._robots_turn(work.robots) if work.robots else None
        self._news = asyncio.Event()
        self._ear, self._wishes = Ear(self._frontier), Wishes()

    def _robots_turn(self, keeper: RobotsKeeper) -> RobotsTurn:
        return RobotsTurn(
            keeper,
            self._line,
            scope=self._work.scope,
            warden=self._work.warden,
            delay_seconds=self._work.delay_seconds,
            longest_crawl_delay_seconds=self._work.longest_crawl_delay_seconds,
            settle=self._settled,
            make_request=self._make_request,
        )

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Lease and request until nothing more can come."""
        try:
            if self._work.hearing:
                await self._work.hearing.begin()
            async for request in self._requests():
                yield request
        except Exception as error:  # the store is the one part without which nothing can go on
            logger.exception("cannot lease")
            self.fatal = error

    async def _requests(self) -> AsyncIterator[scrapy.Request]:
        while True:
            self._news.clear()
            await self._listen()
            if self._wishes.paused or self._room < self._worth_asking:
                await self._wait(LONGEST_NAP_SECONDS)
                continue
            leases = await self._grant()
            await self._ahead.look()
            for request in await asyncio.gather(*map(self._request, leases)):  # a far store is asked for all at once
                if request:
                    yield request
            if not leases:
                nap = await self._nap_seconds()
                if nap is None:
                    return
                await self._wait(nap)

    async def _listen(self) -> None:
        """Hear what people wish, and what they say of pages."""
        self._wishes = await self._ear.listen()
        if self._work.hearing:
            await self._work.hearing.listen()

    @property
    def _most_pages(self) -> int | None:
        return self._work.pages if self._wishes.pages is None else self._wishes.pages

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
        work, asked = self._work, time.monotonic()  # the answer may be long under way, and the lease half over
        leases = await self._frontier.lease(
            self._room, seconds=work.lease_seconds, worker=work.worker, pages=self._most_pages
        )
        self._ends.update((lease.fence, asked + work.lease_seconds) for lease in leases)
        self.open.update((lease.fence, lease) for lease in leases)
        return leases

    def _start_by(self, lease: Lease) -> float:
        """Return until when a fetch may begin, so that it is over well before its lease."""
        return self._ends.get(lease.fence, math.inf) - self._work.longest_seconds - MARGIN_SECONDS

    async def _nap_seconds(self) -> float | None:
        """Return how long to wait for news; None when the crawl is over for us."""
        if self._most_pages is not None and (await self._frontier.counts()).pages >= self._most_pages:
            return None
        seconds = await self._frontier.seconds_to_next()
        if self.open:  # each of them may bring news, or keep a host busy that the store calls ready
            return min(max(LONGEST_NAP_SECONDS if seconds is None else seconds, 0.05), LONGEST_NAP_SECONDS)
        if seconds is None or seconds > PATIENCE_SECONDS:
            return None
        return min(max(seconds, 0.005), LONGEST_NAP_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    async def _request(self, lease: Lease) -> scrapy.Request | None:
        """Turn a lease into a request: for the page, or for the rules of its host."""
        if outside := self._outside(lease):
            await self._settled(lease, self._leave_out(lease, f"out of scope: {outside}"))
            return None
        if time.monotonic() > self._start_by(lease):
            await self._settled(lease, self._frontier.release([lease]))
            return None
        if self._work.browser and not await self._work.browser.may_begin(lease):
            await self._settled(lease, self._frontier.release([lease], delay_seconds=PLACE_SECONDS))
            return None
        if not self.patience.may_begin(lease.host):
            await self._settled(lease, self._frontier.release([lease], delay_seconds=WAIT_SECONDS))
            return None
        if why := await self._why_not(lease):
            await self._settled(lease, self._line.fail(lease, why, at=time.time()))
            return None
        if self._address and (wait := await self._address.enter(lease)):
            await self._settled(lease, self._frontier.release([lease], delay_seconds=wait))
            return None
        if self._robots is None and place_of(lease):  # an errand of a run that obeyed rules
            ended = Settlement(lease=lease, outcome=Outcome.DONE)
            await self._settled(lease, self._frontier.commit([ended]))
            return None
        turn = await self._robots.request(lease) if self._robots else True
        if isinstance(turn, scrapy.Request):
            return turn
        return self._make_request(lease.url, lease, self.take_page, self.take_failure) if turn else None

    def _outside(self, lease: Lease) -> str:
        """Say why a URL is out of scope as the rules are now: they may have changed since it was queued.

        What is no page, and what the user named as a seed, need not have the name of a page.
        """
        if self._work.scope is None:
            return ""
        named = is_aside(lease) or place_of(lease) or lease.hops == 0
        return self._work.scope.allows(f"http://{lease.host}/" if named else lease.url.partition("#")[0], lease.hops)

    async def _leave_out(self, lease: Lease, reason: str) -> None:
        if place_of(lease):  # brings no page, so it has no row
            await self._frontier.commit([Settlement(lease=lease, outcome=Outcome.FAILED, reason=reason)])
        else:
            await self._line.fail(lease, reason, at=time.time())

    async def _why_not(self, lease: Lease) -> str:
        """Say why a URL is not asked for, whatever its host's rules; empty when it may be."""
        warden = self._work.warden
        return await blamed(self._frontier, lease) or (warden.leaves(lease.url) if warden else "")

    def _make_request(self, url: str, lease: Lease, callback: Any, errback: Any, **more: Any) -> scrapy.Request:
        return scrapy.Request(
            url,
            callback=callback,
            errback=errback,
            headers=question_headers(lease) if url == lease.url else None,
            cb_kwargs={"lease": lease, **more},
            meta={
                "download_timeout": self._work.timeout_seconds,
                "start_by": self._start_by(lease),
                "handle_httpstatus_all": True,
            },
            dont_filter=True,
        )

    async def take_page(self, response: Response, lease: Lease) -> None:
        """Hand an answer to the line."""
        page, browser = fetched_page(response, lease.url), self._work.browser
        settling = self._see(browser, lease, page) if browser else self._process(lease, page)
        record = await self._settled(lease, settling)
        self.pages += bool(record and record.page)

    async def _process(self, lease: Lease, page: FetchedPage) -> PageRecord:
        return await self._line.process(lease, page, delay_seconds=await self._delay_seconds(lease.url))

    async def _see(self, browser: Rendering, lease: Lease, page: FetchedPage) -> PageRecord | None:
        """Hand a page to the line as a reader would see it; one that cannot be seen now comes again."""
        seen = await browser.see(lease, page, until=self._ends.get(lease.fence, math.inf) - MARGIN_SECONDS)
        if isinstance(seen, FetchedPage):
            return await self._process(lease, seen)
        if seen:
            return await self._fail(lease, seen, retry=True)
        delay_seconds = max(await self._delay_seconds(lease.url), PLACE_SECONDS)
        await self._frontier.release([lease], delay_seconds=delay_seconds)
        return None

    async def take_failure(self, failure: Failure) -> None:
        """Settle a lease for which no answer came."""
        lease: Lease = failure.request.cb_kwargs["lease"]  # type: ignore[attr-defined]
        if isinstance(failure.value, LeaseOver):  # nobody was asked
            await self._settled(lease, self._frontier.release([lease]))
            return
        reason, retry = failure_reason(failure.value)
        if why := why_refused(lease.url):
            reason, retry = f"refused: {why}", False
        await self._settled(lease, self._fail(lease, reason, retry=retry))

    async def _fail(self, lease: Lease, reason: str, *, retry: bool) -> PageRecord:
        delay_seconds = await self._delay_seconds(lease.url)
        return await self._line.fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)

    async def _settled(self, lease: Lease, settling: Awaitable[Any]) -> Any:
        """Wait until a lease is settled; then there is room for another."""
        try:
            settled = await settling
            if self._address:
                await self._address.leave(lease, delay_seconds=self._work.delay_seconds)
        except Exception as error:  # the store is the one part without which nothing can go on
            logger.exception("cannot settle: %s", lease.url)
            self.fatal = error
            raise CloseSpider("the store failed") from error
        finally:
            self._news.set()
        self.open.pop(lease.fence, None)
        self._ends.pop(lease.fence, None)
        if self._work.browser:
            self._work.browser.free(lease)
        return settled

    async def _delay_seconds(self, url: str) -> float:
        return await self._robots.delay_seconds(url) if self._robots else self._work.delay_seconds

    async def give_back(self) -> None:
        """Return the leases that were not settled, when the worker stops."""
        leases, self.open = list(self.open.values()), {}
        await self._frontier.release(leases)
