"""The lease loop: `start()` leases what may be fetched now, callbacks hand what came back to the line.

There is no request per discovered link and no scheduler of our own: links go to the frontier as records, and only a
leased URL becomes a Scrapy request. A host whose robots.txt is not known yet spends its first lease on fetching
that, and its URL goes back to wait for the host's delay like any other. When a robots.txt is on another host, that
host is asked in its own turn: an errand, a frontier entry of its own, waits there for a lease.
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

from thresher.engine.ahead import Ahead
from thresher.engine.alive import blamed
from thresher.engine.convert import failure_reason, fetched_page
from thresher.engine.download import TooSlow
from thresher.engine.errands import errand, place_of
from thresher.engine.patience import WAIT_SECONDS, Patience
from thresher.engine.resolver import why_refused
from thresher.engine.robots import MAX_BYTES, RobotsFile, RobotsKeeper, with_other_scheme
from thresher.line import Bounds, Line
from thresher.parse.answers import read_answer
from thresher.records import Lease, Outcome, Settlement
from thresher.urls.host import host_key
from thresher.warden import Warden

logger = logging.getLogger(__name__)

LONGEST_NAP_SECONDS = 0.5
"""Other workers add URLs without telling us, so nobody sleeps longer than this."""

PATIENCE_SECONDS = 180.0
"""A run does not wait for hosts that rest longer than this; a later one will find them."""

ERRAND_SECONDS = 5.0
"""How long a host rests whose rules are on another host, before it is looked whether they are here."""

ROBOTS_MAX_BYTES = MAX_BYTES + 4096
"""More of a robots.txt is not downloaded, whatever the bound for pages."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one worker is to do, and with what.

    Args:
        robots: None when robots.txt is ignored.
        scope: Which hosts may be asked for the rules of another; None for all.
        pages: Stop when the crawl has this many pages.
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
        self.patience = Patience(work.concurrency)
        self._ahead = Ahead(self._frontier, work.concurrency)
        self._news = asyncio.Event()

    async def start(self) -> AsyncIterator[scrapy.Request]:
        """Lease and request until nothing more can come."""
        while True:
            self._news.clear()
            if self._room < self._worth_asking:
                await self._wait(LONGEST_NAP_SECONDS)
                continue
            leases = await self._grant()
            await self._ahead.look()
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
        if not self.patience.may_begin(lease.host):
            await self._settled(lease, self._frontier.release([lease], delay_seconds=WAIT_SECONDS))
            return None
        if why := await blamed(self._frontier, lease):
            await self._settled(lease, self._line.fail(lease, why, at=time.time()))
            return None
        robots, warden = self._work.robots, self._work.warden
        if warden and (why := warden.leaves(lease.url)):
            await self._settled(lease, self._line.fail(lease, why, at=time.time()))
            return None
        if place := place_of(lease):
            if robots and not await robots.knows(place):
                return self._robots_request(place, lease)
            await self._settled(lease, self._end_errand(lease))
            return None
        if robots is None:
            return self._page_request(lease)
        rules = await robots.look_up(lease.url)
        if isinstance(rules, RobotsFile):
            return await self._page_request_by(rules, lease)
        if host_key(rules) == lease.host:
            return self._robots_request(rules, lease)
        await self._send_errand(rules, lease)
        return None

    async def _page_request_by(self, rules: RobotsFile, lease: Lease) -> scrapy.Request | None:
        if await self._is_left_alone(rules, lease):
            return None
        if not rules.allows(lease.url):
            await self._settled(lease, self._line.fail(lease, "robots.txt", at=time.time()))
            return None
        return self._page_request(lease)

    async def _is_left_alone(self, rules: RobotsFile, lease: Lease, *, delay_seconds: float = 0.0) -> bool:
        """Park the host of a lease when rules keep us away from it, for as long as they hold; tell whether they do."""
        asked = rules.crawl_delay_seconds
        too_slow = f"asks for a delay of {asked:g} s" if asked > self._work.longest_crawl_delay_seconds else ""
        why = rules.trouble or too_slow
        if rules.trouble and await self._is_well(with_other_scheme(lease.url)):
            failing = self._line.fail(lease, why, at=time.time(), delay_seconds=delay_seconds)
            await self._settled(lease, failing)
        elif why:
            await self._leave_alone(lease, why, until=rules.until, delay_seconds=delay_seconds)
        return bool(why)

    async def _is_well(self, url: str) -> bool:
        """Tell whether the rules for a URL are known; then its host need not rest because others are not."""
        assert self._work.robots is not None
        rules = await self._work.robots.file_for(url)
        return rules is not None and not rules.trouble

    async def _send_errand(self, place: str, lease: Lease) -> None:
        """Have another host asked, in its turn, for rules; until they are here, the host that needs them rests."""
        assert self._work.robots is not None
        host, now = host_key(place), self._work.robots.clock()
        if self._work.scope and self._work.scope.allows(f"http://{host}/", 0):
            await self._work.robots.learn(place, 0, reason=f"it leads to {host}, outside the crawl")
        else:
            await self._frontier.add([errand(place, score=lease.score, at=now)])
        reason = f"robots.txt is on {host}, which is asked in its turn"
        await self._leave_alone(lease, reason, until=now + ERRAND_SECONDS)

    def _page_request(self, lease: Lease) -> scrapy.Request:
        return self._make_request(lease.url, lease, self.take_page, self.take_failure)

    def _robots_request(self, place: str, lease: Lease) -> scrapy.Request:
        request = self._make_request(place, lease, self.take_robots, self.take_robots_failure, place=place)
        request.headers["Accept"] = "text/plain,*/*;q=0.1"
        request.meta["download_maxsize"] = ROBOTS_MAX_BYTES
        return request

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
        if why := why_refused(lease.url):
            reason, retry = f"refused: {why}", False
        delay_seconds = await self._delay_seconds(lease.url)
        failed = self._line.fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)
        await self._settled(lease, failed)

    async def take_robots(self, response: Response, lease: Lease, place: str) -> None:
        """Learn the rules of a host, or where they are; the lease that paid for it goes back."""
        fetched = fetched_page(response, place)
        answer = read_answer(fetched)
        if fetched.truncated and len(fetched.body) < MAX_BYTES:  # the line that forbids may be the one that is missing
            await self._learned(lease, place, 0, reason="the answer broke off")
        else:
            target, wait_seconds = answer.target, answer.wait_seconds
            await self._learned(lease, place, response.status, response.body, target=target, wait_seconds=wait_seconds)

    async def take_robots_failure(self, failure: Failure) -> None:
        """Note that the rules of a host cannot be read now."""
        asked = failure.request.cb_kwargs  # type: ignore[attr-defined]
        lease: Lease = asked["lease"]
        why, reason = why_refused(asked["place"]), failure_reason(failure.value)[0]
        if isinstance(failure.value, TooSlow):  # we broke it off to serve others: no word on the rules themselves
            await self._settled(lease, self._frontier.release([lease], delay_seconds=WAIT_SECONDS))
        elif why and not place_of(lease):
            await self._settled(lease, self._line.fail(lease, f"refused: {why}", at=time.time()))
        else:
            await self._learned(lease, asked["place"], 0, reason=f"refused: {why}" if why else reason)

    async def _learned(self, lease: Lease, place: str, status: int, body: bytes = b"", **more: Any) -> None:
        assert self._work.robots is not None
        answer = await self._work.robots.learn(place, status, body, **more)
        if answer.tries:
            logger.warning("no robots.txt: %s: %s", place, answer.reason or f"http {answer.status}")
        delay_seconds = await self._delay_seconds(lease.url)
        rules = await self._work.robots.file_for(lease.url)
        if rules and self._work.warden:
            await self._work.warden.sitemaps.listed(lease.host, rules.text)
        if place_of(lease):
            await self._settled(lease, self._end_errand(lease, delay_seconds=delay_seconds))
        elif not rules or not await self._is_left_alone(rules, lease, delay_seconds=delay_seconds):
            await self._settled(lease, self._frontier.release([lease], delay_seconds=delay_seconds))

    async def _end_errand(self, lease: Lease, *, delay_seconds: float = 0.0) -> None:
        await self._frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=delay_seconds)])

    async def _leave_alone(self, lease: Lease, reason: str, *, until: float, delay_seconds: float = 0.0) -> None:
        """Park a host for as long as the rules hold that keep us away."""
        assert self._work.robots is not None
        seconds = max(1.0, until - self._work.robots.clock())
        await self._frontier.park(lease.host, reason, seconds=seconds)
        await self._settled(lease, self._frontier.release([lease], delay_seconds=delay_seconds))

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
            asked = min(rules.crawl_delay_seconds, self._work.longest_crawl_delay_seconds)
        return max(self._work.delay_seconds, asked)

    async def give_back(self) -> None:
        """Return the leases that were not settled, when the worker stops."""
        leases, self.open = list(self.open.values()), {}
        await self._frontier.release(leases)
