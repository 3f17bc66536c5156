"""The desk between a spider and the frontier: leases go out as the spider's own requests, what it yields comes in.

It leases as a worker of ours does, robots.txt and its delays included, and differs in whose requests these are. A
redirect or a busy server is settled before the spider hears of it; a page when its callback and its items are done.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Sequence
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from thresher.archive.pages import PageRecord
from thresher.engine.addon_customs import Customs, handles, output_of
from thresher.engine.addon_intake import Intake
from thresher.engine.addon_pages import FIRST, Judged, SpiderPages
from thresher.engine.addon_requests import Tickets, is_ticket, moved_request, plain_url, request_from
from thresher.engine.convert import failure_reason, fetched_page
from thresher.engine.download import LeaseOver
from thresher.engine.refused import REFUSED
from thresher.engine.resolver import why_refused
from thresher.engine.spider import LONGEST_NAP_SECONDS, LeaseSpider, Work
from thresher.parse.answers import AnswerKind, read_answer
from thresher.records import Candidate, FetchedPage, Lease, Outcome, Settlement
from thresher.strategies.base import Strategy
from thresher.urls.addresses import private_network
from thresher.urls.host import host_key

logger = logging.getLogger(__name__)

LEASE = "thresher_lease"
"""Where the meta of a request names its lease."""
KNOWN = "thresher"
"""Where the meta of a response says what is known of its page."""
LOST = "was in memory when its process ended"


class Settled(IgnoreRequest):
    """A request that is done with before its callback: it leads elsewhere, or is tried again later."""


class Desk(LeaseSpider):
    """Hands a spider its own requests in topical order, and takes in what it yields."""

    name = "thresher-desk"

    def __init__(
        self, *, work: Work, spider: Spider, pages: SpiderPages, intake: Intake, tickets: Tickets, customs: Customs
    ) -> None:
        super().__init__(work=work)
        self._spider = spider
        self._pages = pages
        self._intake = intake
        self._tickets = tickets
        self._customs = customs
        self._judged: dict[int, Judged] = {}
        self._errbacks: dict[int, Any] = {}
        self._refused_hosts: set[str] = set()
        self._granting: asyncio.Future[list[Lease]] | None = None
        self.hearing = work.hearing
        self.more_starts = True

    async def add_starts(self, requests: Sequence[Request], strategy: Strategy) -> None:
        """Let start requests in, as the strategy ranks seeds; those of an earlier run are known already."""
        wanted = self._intake.take(requests, None, is_start=True)
        seeds = {seed.url: seed for seed in strategy.seeds([plain_url(each.candidate.url) for each in wanted])}
        starts = []
        for each in wanted:
            seed, own = seeds[plain_url(each.candidate.url)], each.candidate
            carry, score = {**seed.carry, **own.carry}, FIRST if each.first else seed.score
            starts.append(own._replace(score=score, carry=carry, depth_left=seed.depth_left, parts=seed.parts))
        await self._frontier.add(starts)
        self._news.set()

    async def add_loose(self, requests: Sequence[Request], lease: Lease | None) -> None:
        """Let requests in that no judged page brought: of an errback, say."""
        wanted = self._intake.take(requests, lease)
        await self._frontier.add([w.candidate._replace(score=FIRST) if w.first else w.candidate for w in wanted])
        self._news.set()

    async def _settled(self, lease: Lease, settling: Awaitable[Any]) -> Any:
        settled = await super()._settled(lease, settling)
        if isinstance(settled, PageRecord) and settled.reason.startswith(REFUSED):
            self._log_refused(plain_url(lease.url), settled.reason.removeprefix(REFUSED))
        return settled

    def _log_refused(self, url: str, why: str) -> None:
        """Log that an address was refused, once per host, with the setting that allows it."""
        host = host_key(url)
        if host in self._refused_hosts:
            return
        self._refused_hosts.add(host)
        network = private_network(urlsplit(url).hostname or "") or "its address, such as 10.0.0.0/8"
        logger.error(
            'refused to fetch %s: %s. If this is your own site, allow it in topic.yaml: network: {allow: ["%s"]}',
            url,
            why,
            network,
        )

    async def _grant(self) -> list[Lease]:
        self._granting = asyncio.ensure_future(self._lease())
        return await asyncio.shield(self._granting)

    async def give_back(self) -> None:
        """Return the leases that were not settled, one that is being granted just now among them."""
        if self._granting:
            await self._granting
        await super().give_back()

    async def _nap_seconds(self) -> float | None:
        seconds = await super()._nap_seconds()
        return LONGEST_NAP_SECONDS if seconds is None and self.more_starts else seconds

    async def _request(self, lease: Lease) -> Request | None:
        try:
            if self._own_request(lease) is not None:
                return await super()._request(lease)
            reason = LOST
        except LookupError as error:
            reason = str(error)
        await self._settled(lease, self._line.fail(lease, reason, at=time.time()))
        return None

    def _own_request(self, lease: Lease) -> Request | None:
        return self._tickets.request(lease) if is_ticket(lease.url) else request_from(lease, self._spider)

    def _make_request(self, url: str, lease: Lease, callback: Any, errback: Any, **more: Any) -> Request:
        if callback != self.take_page:  # of the robots turn
            return super()._make_request(url, lease, callback, errback, **more)
        own = self._own_request(lease)
        assert own is not None
        own.meta.update({LEASE: lease.fence, "start_by": self._start_by(lease), KNOWN: {"score": lease.score}})
        self._errbacks[lease.fence], own.errback = own.errback, self.take_failure_of
        return own

    def lease_of(self, request: Request | None) -> Lease | None:
        """Return the lease of a request; None when it has none, or it is settled."""
        return self.open.get(request.meta.get(LEASE, -1)) if request else None

    def check_time(self, request: Request) -> None:
        """See that a fetch can be over before its lease.

        Raises:
            LeaseOver: It waited too long; nobody is asked.
        """
        if LEASE in request.meta and time.monotonic() > request.meta["start_by"]:
            raise LeaseOver("there is not enough time left")

    async def look_at(self, request: Request, response: Response) -> None:
        """Judge an answer before its callback sees it.

        Raises:
            Settled: No callback is to see it.
        """
        lease = self.lease_of(request)
        if lease is None:
            return
        fetched = fetched_page(response, plain_url(lease.url))
        answer = read_answer(fetched)
        asked_for = handles(request, self._spider, response.status)
        if answer.kind is AnswerKind.REDIRECT and not asked_for and self._customs.may_redirect(request):
            await self._redirected(lease, request, fetched, answer.target)
            raise Settled(answer.reason)
        if answer.kind is AnswerKind.BUSY and not asked_for and self._customs.may_retry(request):
            if not await self._is_final(lease, self._process(lease, fetched)):
                raise Settled(answer.reason)
        elif asked_for or 200 <= response.status < 300:
            judged = self._judged[lease.fence] = await self._pages.judge(lease, response)
            request.meta[KNOWN] = {**request.meta[KNOWN], **_said_of(judged, lease)}

    async def page_done(self, lease: Lease, requests: Sequence[Request], response: Response, failure: str = "") -> None:
        """Settle a page whose callback and items are done, and let in what it yielded."""
        self._errbacks.pop(lease.fence, None)
        judged = self._judged.pop(lease.fence, None) or await self._pages.judge(lease, response)
        wanted, delay = self._intake.take(requests, lease), await self._delay_seconds(lease.url)
        settling = self._pages.settle(lease, judged, wanted, delay_seconds=delay, failure=failure)
        await self._settled(lease, settling)
        self._tickets.done(lease)

    async def take_failure_of(self, failure: Failure) -> list[Any]:
        """Settle a request that brought nothing; its spider hears of it when it is not tried again."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease, errback = self.lease_of(request), self._errbacks.pop(request.meta[LEASE], None)
        if isinstance(failure.value, Settled) or (lease and not await self._is_given_up(lease, failure)):
            return []
        if errback is None:
            failure.raiseException()
        things = [thing async for thing in output_of(errback(failure))]
        await self.add_loose([thing for thing in things if isinstance(thing, Request)], lease)
        return [thing for thing in things if not isinstance(thing, Request)]

    async def _is_given_up(self, lease: Lease, failure: Failure) -> bool:
        """Settle a failed lease; tell whether it is not tried again."""
        error, has_come = failure.value, self._judged.pop(lease.fence, None) is not None
        if isinstance(error, LeaseOver):  # nobody was asked
            await self._settled(lease, self._frontier.release([lease]))
            return False
        if isinstance(error, HttpError):
            return await self._is_final(lease, self._process(lease, fetched_page(error.response, plain_url(lease.url))))
        if isinstance(error, IgnoreRequest):
            return await self._is_final(lease, self._record_failure(lease, f"ignored: {error}"))
        reason, retry = failure_reason(error)
        if why := why_refused(plain_url(lease.url)):
            reason, retry = f"{REFUSED}{why}", False
        retry = retry and not has_come and self._customs.may_retry(failure.request)  # type: ignore[attr-defined]
        return await self._is_final(lease, self._record_failure(lease, reason, retry=retry))

    async def _record_failure(self, lease: Lease, reason: str, *, retry: bool = False) -> PageRecord:
        delay_seconds = await self._delay_seconds(lease.url)
        return await self._line.fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)

    async def _is_final(self, lease: Lease, settling: Awaitable[PageRecord]) -> bool:
        record = await self._settled(lease, settling)
        if record.outcome is Outcome.RETRY:
            return False
        self._tickets.done(lease)
        return True

    async def _redirected(self, lease: Lease, request: Request, fetched: FetchedPage, target: str) -> None:
        """Settle a redirect: its target is a frontier entry of its own, with the same request."""
        self._errbacks.pop(lease.fence, None)
        if not is_ticket(lease.url):
            await self._settled(lease, self._process(lease, fetched))
            return
        waiting = self._tickets.request(lease)
        assert waiting is not None
        ticket: Candidate = self._tickets.issue(moved_request(waiting, target, fetched.status))
        links = [ticket._replace(score=lease.score, hops=lease.hops, redirects=lease.redirects + 1)]
        ended = Settlement(
            lease=lease,
            outcome=Outcome.DONE,
            reason=f"redirected to {target}",
            links=links,
            delay_seconds=await self._delay_seconds(lease.url),
        )
        await self._settled(lease, self._frontier.commit([ended]))
        self._tickets.done(lease)


def _said_of(judged: Judged, lease: Lease) -> dict[str, Any]:
    judgement = judged.judgement
    return {
        "relevance": judgement.relevance,
        "relevant": judgement.relevant,
        "language": judged.page.language,
        "depth": lease.hops,
    }
