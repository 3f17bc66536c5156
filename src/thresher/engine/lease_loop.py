"""The lease loop: leases what may be fetched now, turns leases into requests, and tracks them until they are settled.

There is no request per discovered link and no other scheduler: links go to the frontier as records, and only a leased
URL becomes a request. The worker's fetcher and the Scrapy add-on both run this loop.

A lease is counted on this worker's monotonic clock from before it was requested, so it ends here no later than in the
store. No fetch begins that could outlast its lease. While the store cannot be reached, every call to it waits: nothing
new begins, what was fetched is on the disk, and its settlement is repeated until it gets through or is refused.

The names of the next hosts of the frontier are resolved in advance (`DnsPrefetcher`), so that no lease waits for DNS.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thresher.coordination.run_control import RunControl, RunControlPoller
from thresher.engine.dns.address_limit import AddressLimiter
from thresher.engine.dns.resolver import GuardedResolver, host_and_port
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import WAIT_SECONDS, SlowHostLimiter
from thresher.engine.robots_gate import RobotsGate, robots_url_of
from thresher.engine.watchdog import poison_reason
from thresher.feedback.label_feed import LabelFeed
from thresher.frontier.base import Frontier
from thresher.pipeline.host_policy import HostPolicy, is_side_request
from thresher.pipeline.links import CrawlScope
from thresher.pipeline.processor import ResponseProcessor
from thresher.politeness.robots import RobotsCache
from thresher.records import Lease, Outcome, Settlement
from thresher.refresh.revisit import conditional_headers

if TYPE_CHECKING:
    from thresher.engine.browser.notice import ScriptNotice
    from thresher.engine.browser.renderer import Renderer

logger = logging.getLogger(__name__)

EVERY_SECONDS = 1.0
SHARE_OF_TIME = 0.02
"""Largest share of a worker's time for reading the next hosts; a large frontier is read less often."""
HOSTS_PER_SLOT = 4
"""Hosts to prefetch, per download slot."""


class DnsPrefetcher:
    """Prefetches names for one worker, at most once a second.

    Args:
        scope: Hosts whose names may be resolved; None for all.
    """

    def __init__(
        self,
        frontier: Frontier,
        resolver: GuardedResolver,
        slots: int,
        *,
        scope: CrawlScope | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._frontier = frontier
        self._resolver = resolver
        self._scope = scope
        self._hosts = slots * HOSTS_PER_SLOT
        self._clock = clock
        self._next = 0.0

    async def prefetch(self) -> None:
        """Start to resolve the names of the next hosts, if it is due; do not wait for the answers."""
        now = self._clock()
        if now >= self._next and self._resolver.asks:
            hosts = await self._frontier.next_hosts(self._hosts)
            self._next = now + max(EVERY_SECONDS, (self._clock() - now) / SHARE_OF_TIME)
            inside = [host for host in hosts if not self._scope or not self._scope.allows(f"http://{host}/", 0)]
            self._resolver.prefetch(dict.fromkeys(host_and_port(f"https://{host}/") for host in inside))


MAX_WAIT_SECONDS = 180.0
"""A run does not wait for hosts that are due later than this; the next run will fetch them."""

LONGEST_IDLE_SECONDS = 0.5
"""Other workers add URLs without notice, so no worker sleeps longer than this."""

BROWSER_WAIT_SECONDS = 1.0
"""How long a host waits whose page must be rendered while the browser is full."""

MARGIN_SECONDS = 3.0
"""A fetch ends this long before its lease, even if the worker is busy when its time is up."""


@dataclass(frozen=True, kw_only=True)
class WorkerContext:
    """What one worker fetches, and with which parts.

    Args:
        resolver: The address guard; without one, no name is resolved in advance.
        robots: None when robots.txt is ignored.
        scope: Which URLs and hosts may be requested; None for all.
        pages: Stop when the crawl has this many pages.
        per_address: Whether hosts with one address are fetched one at a time.
        label_feed: Applies new labels; None when there are none.
        browser: Renders pages made by scripts; None when none are rendered.
        script_notice: Notices that a browser would be needed; None where there is one, or where it is not wanted.
        obey_opt_outs: Whether pages are not requested whose robots.txt has an AI opt-out.
    """

    processor: ResponseProcessor
    robots: RobotsCache | None
    worker: str
    resolver: GuardedResolver | None = None
    scope: CrawlScope | None = None
    concurrency: int = 32
    lease_seconds: float = 60.0
    timeout_seconds: float = 30.0
    delay_seconds: float = 2.0
    longest_crawl_delay_seconds: float = 60.0
    pages: int | None = None
    host_policy: HostPolicy | None = None
    per_address: bool = False
    label_feed: LabelFeed | None = None
    browser: Renderer | None = None
    script_notice: ScriptNotice | None = None
    obey_opt_outs: bool = False

    @property
    def longest_seconds(self) -> float:
        """How long a lease may be in use from the start of its fetch."""
        return self.timeout_seconds + (self.browser.seconds if self.browser else 0.0)


@dataclass(frozen=True, kw_only=True)
class LoopHooks:
    """What differs between those who run the loop.

    Args:
        reject_reason: Why a lease cannot become a request at all; empty when it can.
        on_settled: Called with every settled lease and its result.
        expects_more: Whether URLs may still come from outside, so that an empty frontier is not the end.
    """

    reject_reason: Callable[[Lease], str] = lambda lease: ""
    on_settled: Callable[[Lease, Any], None] = lambda lease, result: None
    expects_more: Callable[[], bool] = lambda: False


class StoreFailed(Exception):
    """The store failed while a lease was settled; the crawl of this worker ends."""


class LeaseLoop:
    """Leases and requests until nothing more can come.

    Attributes:
        robots: The robots gate, which takes the responses of its own requests; None when robots.txt is ignored.
        open: The leases that are not settled yet, by their fence.
        fatal: The error that ended the loop, if one did.
    """

    def __init__(self, context: WorkerContext, hooks: LoopHooks | None = None) -> None:
        self.context = context
        self.open: dict[int, Lease] = {}
        self.fatal: Exception | None = None
        self.slow_hosts = SlowHostLimiter(context.concurrency)
        self._hooks = hooks or LoopHooks()
        self._processor = context.processor
        self._frontier = context.processor.frontier
        self._ends: dict[int, float] = {}
        self._dns_prefetcher: DnsPrefetcher | None = None
        self._address: AddressLimiter | None = None
        if context.resolver:
            self._dns_prefetcher, self._address = self._dns_parts(context.resolver)
        self.robots = self._robots_gate(context.robots) if context.robots else None
        self._news = asyncio.Event()
        self._granting: asyncio.Future[list[Lease]] | None = None
        self._sent: list[Lease] = []
        self._reporting: asyncio.Task[None] | None = None
        self._run_control_poller, self._run_control = RunControlPoller(self._frontier), RunControl()

    def _dns_parts(self, resolver: GuardedResolver) -> tuple[DnsPrefetcher, AddressLimiter | None]:
        context, frontier = self.context, self._frontier
        prefetcher = DnsPrefetcher(frontier, resolver, context.concurrency, scope=context.scope)
        limiter = AddressLimiter(frontier, resolver, seconds=context.lease_seconds) if context.per_address else None
        return prefetcher, limiter

    def _robots_gate(self, robots_cache: RobotsCache) -> RobotsGate:
        return RobotsGate(
            robots_cache,
            self._processor,
            scope=self.context.scope,
            host_policy=self.context.host_policy,
            delay_seconds=self.context.delay_seconds,
            longest_crawl_delay_seconds=self.context.longest_crawl_delay_seconds,
            settle=self.settle,
            make_request=self.make_request,
            obey_opt_outs=self.context.obey_opt_outs,
        )

    async def requests(self) -> AsyncIterator[FetchRequest]:
        """Lease and request until nothing more can come; an error of the store is kept in `fatal`."""
        try:
            if self.context.label_feed:
                await self.context.label_feed.begin()
            async for request in self._requests():
                yield request
        except Exception as error:  # the store is the one part without which nothing can go on
            logger.exception("cannot lease")
            self.fatal = error

    async def _requests(self) -> AsyncIterator[FetchRequest]:
        while True:
            self._news.clear()
            await self._poll_control_and_labels()
            if self._run_control.paused or self._room < self._least_room:
                await self._wait(LONGEST_IDLE_SECONDS)
                continue
            leases = await self.grant()
            if self._dns_prefetcher:
                await self._dns_prefetcher.prefetch()
            for request in await asyncio.gather(*map(self.request, leases)):  # one round trip to a far store for all
                if request:
                    yield request
            if not leases:
                idle_seconds = await self._idle_seconds()
                if idle_seconds is None and not self._hooks.expects_more():
                    return
                await self._wait(LONGEST_IDLE_SECONDS if idle_seconds is None else idle_seconds)

    async def _poll_control_and_labels(self) -> None:
        self._run_control = await self._run_control_poller.poll()
        if self.context.label_feed:
            await self.context.label_feed.poll()

    @property
    def _max_pages(self) -> int | None:
        return self.context.pages if self._run_control.pages is None else self._run_control.pages

    @property
    def _room(self) -> int:
        return self.context.concurrency - len(self.open)

    @property
    def _least_room(self) -> int:
        """How much room makes a call to the store worth its cost."""
        return max(1, self.context.concurrency // 8)

    async def grant(self) -> list[Lease]:
        """Lease as much as there is room for; a grant that is under way when we stop is still known."""
        self._granting = asyncio.ensure_future(self._lease())
        return await asyncio.shield(self._granting)

    async def _lease(self) -> list[Lease]:
        context, began = self.context, time.monotonic()  # the response may take long, and the lease be half over
        leases = await self._frontier.lease(
            self._room, seconds=context.lease_seconds, worker=context.worker, pages=self._max_pages
        )
        self._ends.update((lease.fence, began + context.lease_seconds) for lease in leases)
        self.open.update((lease.fence, lease) for lease in leases)
        return leases

    def end_of(self, lease: Lease) -> float:
        """Return until when the response of a lease may be worked on."""
        return self._ends.get(lease.fence, math.inf) - MARGIN_SECONDS

    def start_by(self, lease: Lease) -> float:
        """Return until when a fetch may begin, so that it ends well before its lease."""
        return self.end_of(lease) - self.context.longest_seconds

    async def _idle_seconds(self) -> float | None:
        """Return how long to wait for news; None when the crawl is over for this worker."""
        if self._max_pages is not None and (await self._frontier.counts()).pages >= self._max_pages:
            return None
        seconds = await self._frontier.seconds_to_next()
        if self.open:  # each of them may bring news, or keep a host busy that the store calls ready
            return min(max(LONGEST_IDLE_SECONDS if seconds is None else seconds, 0.05), LONGEST_IDLE_SECONDS)
        if seconds is None or seconds > MAX_WAIT_SECONDS:
            return None
        return min(max(seconds, 0.005), LONGEST_IDLE_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    def wake(self) -> None:
        """Look for work at once: something may have been added."""
        self._news.set()

    async def request(self, lease: Lease) -> FetchRequest | None:
        """Turn a lease into a request, for the page or for the robots.txt of its host; None when it was settled."""
        if settling := await self._without_request(lease):
            await self.settle(lease, settling)
            return None
        turn = await self.robots.request(lease) if self.robots else True
        if isinstance(turn, FetchRequest):
            return turn
        return self.make_request(lease.url, lease, headers=conditional_headers(lease)) if turn else None

    async def _without_request(self, lease: Lease) -> Awaitable[Any] | None:
        """Return how a lease is settled that may not be requested now, or not at all; None when it may be."""
        if reason := self._hooks.reject_reason(lease):
            return self._processor.fail(lease, reason, at=time.time())
        if outside := self._outside(lease):
            return self._leave_out(lease, f"out of scope: {outside}")
        if time.monotonic() > self.start_by(lease):
            return self._frontier.release([lease])
        if self.context.browser and not await self.context.browser.may_begin(lease):
            return self._frontier.release([lease], delay_seconds=BROWSER_WAIT_SECONDS)
        if not self.slow_hosts.may_begin(lease.host):
            return self._frontier.release([lease], delay_seconds=WAIT_SECONDS)
        if reason := await self._skip_reason(lease):
            return self._processor.fail(lease, reason, at=time.time())
        if self._address and (wait := await self._address.acquire_lock(lease)):
            return self._frontier.release([lease], delay_seconds=wait)
        if self.robots is None and robots_url_of(lease):  # queued by a run that obeyed robots.txt
            return self._frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE)])
        return None

    def _outside(self, lease: Lease) -> str:
        """Return why a URL is out of scope as the rules are now: they may have changed since it was queued.

        Side requests and seeds need not have the URL of a page.
        """
        if self.context.scope is None:
            return ""
        by_host = is_side_request(lease) or robots_url_of(lease) or lease.hops == 0
        url = f"http://{lease.host}/" if by_host else lease.url.partition("#")[0]
        return self.context.scope.allows(url, lease.hops)

    async def _leave_out(self, lease: Lease, reason: str) -> None:
        if robots_url_of(lease):  # brings no page, so it has no row
            await self._frontier.commit([Settlement(lease=lease, outcome=Outcome.FAILED, reason=reason)])
        else:
            await self._processor.fail(lease, reason, at=time.time())

    async def _skip_reason(self, lease: Lease) -> str:
        """Return why a URL is not requested, whatever robots.txt says; empty when it may be."""
        host_policy = self.context.host_policy
        return await poison_reason(self._frontier, lease) or (host_policy.skip_reason(lease.url) if host_policy else "")

    def make_request(self, url: str, lease: Lease, **more: Any) -> FetchRequest:
        """Make a request for a lease; it carries its time limits."""
        start_by = self.start_by(lease)
        return FetchRequest(
            url=url, lease=lease, timeout_seconds=self.context.timeout_seconds, start_by=start_by, **more
        )

    def report_sent(self, lease: Lease) -> None:
        """Report that the page of a lease is requested now, with others in one call; its request does not wait."""
        self._sent.append(lease)
        if self._reporting is None:
            self._reporting = asyncio.create_task(self._report_sent())

    async def _report_sent(self) -> None:
        try:
            while self._sent:
                sent, self._sent = self._sent, []
                if leases := [lease for lease in sent if lease.fence in self.open]:
                    await self._frontier.begin(leases)
        except Exception:  # a store that fails for good also fails the next lease or settlement, which ends the loop
            logger.exception("cannot report requests")
        finally:
            self._reporting = None

    async def allows(self, lease: Lease, url: str) -> bool:
        """Return whether scope and robots.txt allow to request another URL of the host within a lease."""
        is_inside = self.context.scope is None or not self.context.scope.allows(url, lease.hops)
        return is_inside and (self.robots is None or await self.robots.allows(url))

    async def delay_seconds(self, url: str) -> float:
        """Return how long the host of a URL must rest after a request."""
        return await self.robots.delay_seconds(url) if self.robots else self.context.delay_seconds

    async def robots_opt_outs(self, url: str) -> frozenset[str]:
        """Return the uses of a URL that its host denies in robots.txt; none when robots.txt is ignored."""
        return await self.robots.opt_outs(url) if self.robots else frozenset()

    async def settle(self, lease: Lease, settling: Awaitable[Any]) -> Any:
        """Wait until a lease is settled, which makes room for another; return the result.

        Raises:
            StoreFailed: The error is kept in `fatal`.
        """
        try:
            settled = await settling
            if self._address:
                await self._address.release_lock(lease, delay_seconds=self.context.delay_seconds)
        except Exception as error:  # the store is the one part without which nothing can go on
            logger.exception("cannot settle: %s", lease.url)
            self.fatal = error
            raise StoreFailed(str(error)) from error
        finally:
            self._news.set()
        self.open.pop(lease.fence, None)
        self._ends.pop(lease.fence, None)
        if self.context.browser:
            self.context.browser.free(lease)
        self._hooks.on_settled(lease, settled)
        return settled

    async def give_back(self) -> None:
        """Return the leases that were not settled, one that is being granted just now among them."""
        if self._reporting:
            self._reporting.cancel()
        if self._granting:
            await self._granting
        leases, self.open = list(self.open.values()), {}
        if leases:
            await self._frontier.release(leases)
