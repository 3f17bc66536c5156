"""Bridge between a spider and the frontier: leases become the spider's requests, and its output enters the frontier.

It leases like any worker, with robots.txt and its delays, but the requests are those of the spider. A redirect or a
busy server is settled before the spider sees it; a page when its callback and its items are done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from thresher.engine.download.errors import LeaseExpired
from thresher.engine.download.request import FetchRequest
from thresher.engine.lease_loop import LeaseLoop, LoopHooks, StoreFailed, WorkerContext
from thresher.frontier.base import CrawlStore, plain_url
from thresher.parsing.response import ResponseKind, classify_response
from thresher.pipeline.pipeline import Pipeline
from thresher.reasons.reason import NO_REASON, REFUSED, Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Lease, Outcome, RequestKind, Settlement
from thresher.storage.page_store import PageRecord
from thresher.strategies.base import Strategy
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import host_key
from thresher_scrapy.intake import RequestIntake
from thresher_scrapy.pages import FIRST, Judged, SpiderPages
from thresher_scrapy.policies import RequestPolicy, handles, output_of
from thresher_scrapy.requests import KEY, InMemoryRequests, moved_request, request_from
from thresher_scrapy.twisted_adapter import failure_of, fetched_page

logger = logging.getLogger(__name__)

LEASE = "thresher_lease"
"""Key in the meta of a request: the fence of its lease."""
KNOWN = "thresher"
"""Key in the meta of a response: score, relevance and other facts about its page."""
LOST = Reason.of(ReasonKind.SPIDER, "was in memory when its process ended")


class _OnlyRequested:
    """Frontier that adds only URLs that the spider requested, not further candidates of the strategy."""

    def __init__(self, frontier: CrawlStore) -> None:
        self._frontier = frontier

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frontier, name)

    async def commit(self, settlements: Sequence[Settlement]) -> list[bool]:
        return await self._frontier.commit(
            [replace(each, links=[link for link in each.links if KEY in link.strategy_data]) for each in settlements]
        )


def only_requested(frontier: CrawlStore) -> CrawlStore:
    """Return a frontier that ignores links without a request of the spider."""
    return cast(CrawlStore, _OnlyRequested(frontier))


class RequestSettled(IgnoreRequest):
    """The request was settled before its callback: a redirect, or a later retry."""


class SpiderBridge:
    """Passes leases to a spider as its own requests, in topical order, and adds what it yields to the frontier."""

    def __init__(
        self,
        *,
        context: WorkerContext,
        pipeline: Pipeline,
        spider: Spider,
        pages: SpiderPages,
        intake: RequestIntake,
        in_memory_requests: InMemoryRequests,
        request_policy: RequestPolicy,
    ) -> None:
        hooks = LoopHooks(
            reject_reason=self._reject_reason,
            on_settled=self._log_refused,
            expects_more=lambda: self.more_starts,
        )
        self.loop = LeaseLoop(context, hooks)
        self._pipeline = pipeline
        self._frontier = pipeline.frontier
        self._spider = spider
        self._pages = pages
        self._intake = intake
        self._in_memory_requests = in_memory_requests
        self._request_policy = request_policy
        self._judged: dict[int, Judged] = {}
        self._errbacks: dict[int, Any] = {}
        self._refused_hosts: set[str] = set()
        self.label_feed = context.label_feed
        self.more_starts = True

    async def requests(self) -> AsyncIterator[Request]:
        """Lease, and yield the spider's requests and those for robots.txt, until nothing more can come."""
        async for request in self.loop.requests():
            yield self._robots_request(request) if request.is_robots else self._page_request(request.lease)

    def _robots_request(self, request: FetchRequest) -> Request:
        return Request(
            request.url,
            callback=self._take_robots,
            errback=self._take_robots_failure,
            headers=dict(request.headers),
            cb_kwargs={"request": request},
            meta={
                "download_timeout": request.timeout_seconds,
                "download_maxsize": request.max_bytes,
                "start_by": request.start_by,
                "handle_httpstatus_all": True,
            },
            dont_filter=True,
        )

    async def _take_robots(self, response: Response, request: FetchRequest) -> None:
        await _or_close(self.loop.take_robots(request, fetched_page(response, request.url)))

    async def _take_robots_failure(self, failure: Failure) -> None:
        request: FetchRequest = failure.request.cb_kwargs["request"]  # type: ignore[attr-defined]
        await _or_close(self.loop.take_robots(request, failure_of(failure.value, request.url)))

    async def _settle(self, lease: Lease, settling: Awaitable[Any]) -> Any:
        return await _or_close(self.loop.settle(lease, settling))

    async def add_starts(self, requests: Sequence[Request], strategy: Strategy) -> None:
        """Add start requests, scored by the strategy as seeds; those of an earlier run are already known."""
        wanted = self._intake.take(requests, None, is_start=True)
        seeds = {seed.url: seed for seed in strategy.seeds([plain_url(each.candidate.url) for each in wanted])}
        starts = []
        for each in wanted:
            seed, own = seeds[plain_url(each.candidate.url)], each.candidate
            strategy_data, score = {**seed.strategy_data, **own.strategy_data}, FIRST if each.first else seed.score
            kind = own.kind if own.kind is RequestKind.TICKET else RequestKind.SEED
            own = own._replace(
                score=score, strategy_data=strategy_data, depth_left=seed.depth_left, breakdown=seed.breakdown
            )
            starts.append(own._replace(kind=kind))
        await self._frontier.add(starts)
        self.loop.wake()

    async def add_requests(self, requests: Sequence[Request], lease: Lease | None) -> None:
        """Add requests that do not come from a judged page, such as those of an errback."""
        wanted = self._intake.take(requests, lease)
        await self._frontier.add([w.candidate._replace(score=FIRST) if w.first else w.candidate for w in wanted])
        self.loop.wake()

    def _log_refused(self, lease: Lease, result: object) -> None:
        """Log that an address was refused, once per host, with the setting that allows it."""
        if not (isinstance(result, PageRecord) and result.reason.kind in REFUSED):
            return
        url = plain_url(lease.url)
        host = host_key(url)
        if host in self._refused_hosts:
            return
        self._refused_hosts.add(host)
        network = private_network(urlsplit(url).hostname or "") or "its address, such as 10.0.0.0/8"
        logger.error(
            'refused to fetch %s: %s. If this is your own site, allow it in topic.yaml: network: {allow: ["%s"]}',
            url,
            result.reason.detail,
            network,
        )

    def _reject_reason(self, lease: Lease) -> Reason:
        try:
            return NO_REASON if self._own_request(lease) is not None else LOST
        except LookupError as error:
            return Reason.of(ReasonKind.SPIDER, error)

    def _own_request(self, lease: Lease) -> Request | None:
        return (
            self._in_memory_requests.request(lease)
            if lease.kind is RequestKind.TICKET
            else request_from(lease, self._spider)
        )

    def _page_request(self, lease: Lease) -> Request:
        own = self._own_request(lease)
        assert own is not None
        own.meta.update({LEASE: lease.fence, "start_by": self.loop.start_by(lease), KNOWN: {"score": lease.score}})
        self._errbacks[lease.fence], own.errback = own.errback, self.process_failure
        return own

    def lease_of(self, request: Request | None) -> Lease | None:
        """Return the lease of a request; None when it has none, or it is settled."""
        return self.loop.open.get(request.meta.get(LEASE, -1)) if request else None

    def begin(self, request: Request) -> None:
        """Report that a request is sent now, if the fetch can finish before its lease expires.

        Raises:
            LeaseExpired: It waited too long; no request is sent.
        """
        if LEASE in request.meta and time.monotonic() > request.meta["start_by"]:
            raise LeaseExpired
        if lease := self.lease_of(request):
            self.loop.report_sent(lease)

    async def process_response(self, request: Request, response: Response) -> None:
        """Judge a response before its callback.

        Raises:
            RequestSettled: The callback must not be called.
        """
        lease = self.lease_of(request)
        if lease is None:
            return
        fetched = fetched_page(response, plain_url(lease.url))
        classified = classify_response(fetched)
        handled = handles(request, self._spider, response.status)
        if classified.kind is ResponseKind.REDIRECT and not handled and self._request_policy.may_redirect(request):
            await self._redirected(lease, request, fetched, classified.target)
            raise RequestSettled(str(classified.reason))
        if classified.kind is ResponseKind.BUSY and not handled and self._request_policy.may_retry(request):
            if not await self._is_final(lease, self._process(lease, fetched)):
                raise RequestSettled(str(classified.reason))
        elif handled or 200 <= response.status < 300:
            judged = await self._pages.judge(lease, response, await self.loop.host_signals(lease))
            if judged.opted_out:
                delay_seconds = await self.loop.delay_seconds(lease.url)
                await self._settle(lease, self._pages.leave_out(judged.opted_out, delay_seconds=delay_seconds))
                self._in_memory_requests.done(lease)
                raise RequestSettled(judged.opted_out[0].reason)
            self._judged[lease.fence] = judged
            request.meta[KNOWN] = {**request.meta[KNOWN], **_known_facts(judged, lease)}

    async def page_done(
        self, lease: Lease, requests: Sequence[Request], response: Response, failure: Reason = NO_REASON
    ) -> None:
        """Settle a page whose callback and items are done, and add the requests it yielded."""
        self._errbacks.pop(lease.fence, None)
        judged = self._judged.pop(lease.fence, None)
        judged = judged or await self._pages.judge(lease, response, await self.loop.host_signals(lease))
        wanted, delay = self._intake.take(requests, lease), await self.loop.delay_seconds(lease.url)
        settling = self._pages.settle(lease, judged, wanted, delay_seconds=delay, failure=failure)
        await self._settle(lease, settling)
        self._in_memory_requests.done(lease)

    async def process_failure(self, failure: Failure) -> list[Any]:
        """Settle a failed request; the spider's errback is called when it is not retried."""
        request: Request = failure.request  # type: ignore[attr-defined]
        lease, errback = self.lease_of(request), self._errbacks.pop(request.meta[LEASE], None)
        if isinstance(failure.value, RequestSettled) or (lease and not await self._is_given_up(lease, failure)):
            return []
        if errback is None:
            failure.raiseException()
        outputs = [output async for output in output_of(errback(failure))]
        await self.add_requests([output for output in outputs if isinstance(output, Request)], lease)
        return [output for output in outputs if not isinstance(output, Request)]

    async def _is_given_up(self, lease: Lease, failure: Failure) -> bool:
        """Settle a failed lease; return whether it is not retried."""
        error, has_response = failure.value, self._judged.pop(lease.fence, None) is not None
        if isinstance(error, LeaseExpired):  # no request was sent
            await self._settle(lease, self._frontier.release([lease]))
            return False
        if isinstance(error, HttpError):
            return await self._is_final(lease, self._process(lease, fetched_page(error.response, plain_url(lease.url))))
        if isinstance(error, IgnoreRequest):
            return await self._is_final(
                lease, self._record_failure(lease, Reason.of(ReasonKind.SPIDER, f"ignored: {error}"))
            )
        failed = failure_of(error, plain_url(lease.url))
        may_retry = failed.retry and not has_response and self._request_policy.may_retry(failure.request)  # type: ignore[attr-defined]
        return await self._is_final(lease, self._record_failure(lease, failed.reason, retry=may_retry))

    async def _process(self, lease: Lease, fetched: FetchedPage) -> PageRecord:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        return await self._pipeline.process(lease, fetched, delay_seconds=delay_seconds)

    async def _record_failure(self, lease: Lease, reason: Reason, *, retry: bool = False) -> PageRecord:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        return await self._pipeline.fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)

    async def _is_final(self, lease: Lease, settling: Awaitable[PageRecord]) -> bool:
        record = await self._settle(lease, settling)
        if record.outcome is Outcome.RETRY:
            return False
        self._in_memory_requests.done(lease)
        return True

    async def _redirected(self, lease: Lease, request: Request, fetched: FetchedPage, target: str) -> None:
        """Settle a redirect: its target becomes a separate frontier entry with the same request."""
        self._errbacks.pop(lease.fence, None)
        if lease.kind is not RequestKind.TICKET:
            await self._settle(lease, self._process(lease, fetched))
            return
        waiting = self._in_memory_requests.request(lease)
        assert waiting is not None
        ticket: Candidate = self._in_memory_requests.issue(moved_request(waiting, target, fetched.status))
        links = [ticket._replace(score=lease.score, hops=lease.hops, redirects=lease.redirects + 1)]
        ended = Settlement(
            lease=lease,
            outcome=Outcome.DONE,
            reason=Reason.of(ReasonKind.REDIRECT, target),
            links=links,
            delay_seconds=await self.loop.delay_seconds(lease.url),
        )
        await self._settle(lease, self._frontier.commit([ended]))
        self._in_memory_requests.done(lease)


async def _or_close(settling: Awaitable[Any]) -> Any:
    """Wait until a lease is settled; close the spider when the store fails."""
    try:
        return await settling
    except StoreFailed as error:
        raise CloseSpider("the store failed") from error


def _known_facts(judged: Judged, lease: Lease) -> dict[str, Any]:
    judgement = judged.judgement
    return {
        "relevance": judgement.relevance,
        "relevant": judgement.relevant,
        "language": judged.page.language,
        "depth": lease.hops,
    }
