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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from thresher.config.event_log import log_event
from thresher.coordination.run_control import RunControl, RunControlPoller
from thresher.engine.dns.address_limit import AddressLimiter
from thresher.engine.dns.resolver import GuardedResolver, host_and_port
from thresher.engine.download.errors import FetchFailed
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import WAIT_SECONDS, SlowHostLimiter
from thresher.engine.robots_gate import (
    ROBOTS_HEADERS,
    ROBOTS_MAX_BYTES,
    Allow,
    Ending,
    FetchRobots,
    Finish,
    Park,
    Reject,
    Release,
    RobotsGate,
)
from thresher.engine.watchdog import poison_reason
from thresher.feedback.label_feed import LabelFeed
from thresher.frontier.base import CrawlStore, Frontier, plain_url
from thresher.pipeline.host_policy import HostPolicy
from thresher.politeness.robots import RobotsCache
from thresher.politeness.settings import Politeness
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import FetchedPage, Lease, Outcome, RequestKind, Settlement, UsageSignal
from thresher.refresh.revisit import conditional_headers

if TYPE_CHECKING:
    from thresher.engine.browser.notice import ScriptNotice
    from thresher.engine.browser.renderer import Renderer
    from thresher.pipeline.outcomes import CrawlScope
    from thresher.storage.page_store import PageRecord

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
        if now >= self._next and self._resolver.uses_dns:
            hosts = await self._frontier.next_hosts(self._hosts)
            self._next = now + max(EVERY_SECONDS, (self._clock() - now) / SHARE_OF_TIME)
            inside = [host for host in hosts if not self._scope or not self._scope.allows(f"http://{host}/", 0)]
            self._resolver.prefetch(dict.fromkeys(host_and_port(f"https://{host}/") for host in inside))


MAX_WAIT_SECONDS = 180.0
"""A run does not wait for hosts that are due later than this; the next run will fetch them."""

MAX_IDLE_SECONDS = 0.5
"""Other workers add URLs without notice, so no worker sleeps longer than this."""

BROWSER_WAIT_SECONDS = 1.0
"""How long a host waits whose page must be rendered while the browser is full."""

MARGIN_SECONDS = 3.0
"""A fetch ends this long before its lease, even if the worker is busy when its time is up."""


class ResponseProcessor(Protocol):
    """Takes the responses of leases, and settles the leases in its frontier: a pipeline, or what stores nothing."""

    @property
    def frontier(self) -> CrawlStore: ...

    @property
    def host_policy(self) -> HostPolicy | None:
        """The limits per host that apply before a request; None for a processor without any."""
        ...

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> PageRecord | None:
        """Process a response; return what was stored, if anything."""
        ...

    async def fail(
        self, lease: Lease, reason: Reason, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> PageRecord | None:
        """Settle a lease without a response."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class WorkerContext:
    """What one worker fetches, and with which parts.

    Args:
        resolver: The address guard; without one, no name is resolved in advance.
        robots: None when robots.txt is ignored.
        scope: Which URLs and hosts may be requested; None for all.
        pages: Stop when the crawl has this many pages.
        politeness: That of the crawl.
        label_feed: Applies new labels; None when there are none.
        browser: Renders pages made by scripts; None when none are rendered.
        script_notice: Notices that a browser would be needed; None where there is one, or where it is not wanted.
    """

    processor: ResponseProcessor
    robots: RobotsCache | None
    worker: str
    resolver: GuardedResolver | None = None
    scope: CrawlScope | None = None
    concurrency: int = 32
    lease_seconds: float = 60.0
    timeout_seconds: float = 30.0
    politeness: Politeness = field(default_factory=Politeness)
    pages: int | None = None
    label_feed: LabelFeed | None = None
    browser: Renderer | None = None
    script_notice: ScriptNotice | None = None

    @property
    def longest_seconds(self) -> float:
        """How long a lease may be in use from the start of its fetch."""
        return self.timeout_seconds + (self.browser.seconds if self.browser else 0.0)


@dataclass(frozen=True, kw_only=True)
class LoopHooks:
    """What differs between those who run the loop.

    Args:
        reject_reason: Why a lease cannot become a request at all; none when it can.
        on_settled: Called with every settled lease and its result.
        expects_more: Whether URLs may still come from outside, so that an empty frontier is not the end.
    """

    reject_reason: Callable[[Lease], Reason] = lambda lease: NO_REASON
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
        if not context.politeness.per_address:
            return prefetcher, None
        return prefetcher, AddressLimiter(frontier, resolver, seconds=context.lease_seconds)

    def _robots_gate(self, robots_cache: RobotsCache) -> RobotsGate:
        return RobotsGate(
            robots_cache,
            self._frontier,
            scope=self.context.scope,
            host_policy=self._processor.host_policy,
            politeness=self.context.politeness,
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
                await self._wait(MAX_IDLE_SECONDS)
                continue
            leases = await self.acquire_leases()
            if self._dns_prefetcher:
                await self._dns_prefetcher.prefetch()
            for request in await asyncio.gather(*map(self.request, leases)):  # one round trip to a far store for all
                if request:
                    yield request
            if not leases:
                idle_seconds = await self._idle_seconds()
                if idle_seconds is None and not self._hooks.expects_more():
                    return
                await self._wait(MAX_IDLE_SECONDS if idle_seconds is None else idle_seconds)

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

    async def acquire_leases(self) -> list[Lease]:
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
            return min(max(MAX_IDLE_SECONDS if seconds is None else seconds, 0.05), MAX_IDLE_SECONDS)
        if seconds is None or seconds > MAX_WAIT_SECONDS:
            return None
        return min(max(seconds, 0.005), MAX_IDLE_SECONDS)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), seconds)

    def wake(self) -> None:
        """Look for work at once: something may have been added."""
        self._news.set()

    async def request(self, lease: Lease) -> FetchRequest | None:
        """Turn a lease into a request, for the page or for the robots.txt of its host; None when it was settled."""
        decision = await self._without_request(lease) or (await self.robots.check(lease) if self.robots else Allow())
        if isinstance(decision, Allow):
            return self.make_request(lease.url, lease, headers=conditional_headers(lease))
        if isinstance(decision, FetchRobots):
            limit = ROBOTS_MAX_BYTES
            return self.make_request(decision.url, lease, headers=ROBOTS_HEADERS, max_bytes=limit, is_robots=True)
        await self.end(lease, decision)
        return None

    async def _without_request(self, lease: Lease) -> Ending | None:
        """Return how a lease ends that may not be requested now, or not at all; None when it may be."""
        if reason := self._hooks.reject_reason(lease):
            return Reject(reason)
        if outside := self._outside(lease):
            return Reject(Reason.of(ReasonKind.SCOPE, outside))
        if time.monotonic() > self.start_by(lease):
            return Release()
        if self.context.browser and not await self.context.browser.may_begin(lease):
            return Release(BROWSER_WAIT_SECONDS)
        if not self.slow_hosts.may_begin(lease.host):
            return Release(WAIT_SECONDS)
        if reason := await self._skip_reason(lease):
            return Reject(reason)
        if self._address and (wait := await self._address.acquire_lock(lease)):
            return Release(wait)
        if self.robots is None and lease.kind is RequestKind.ROBOTS:  # queued by a run that obeyed robots.txt
            return Finish()
        return None

    async def end(self, lease: Lease, ending: Ending) -> None:
        """Settle a lease that gives no page."""
        await self.settle(lease, self._end(lease, ending))

    async def _end(self, lease: Lease, ending: Ending) -> Any:
        delay_seconds = ending.delay_seconds
        reason = ending.reason if isinstance(ending, Reject) else NO_REASON
        if reason and lease.kind is not RequestKind.ROBOTS:
            return await self._processor.fail(lease, reason, at=time.time(), delay_seconds=delay_seconds)
        if isinstance(ending, Reject | Finish):  # robots.txt is no page, so it has no row
            outcome = Outcome.FAILED if reason else Outcome.DONE
            settlement = Settlement(lease=lease, outcome=outcome, reason=reason, delay_seconds=delay_seconds)
            return await self._frontier.commit([settlement])
        if isinstance(ending, Park):
            await self._frontier.park(lease.host, ending.reason, seconds=ending.seconds)
            log_event("host parked", host=lease.host, reason=str(ending.reason), seconds=ending.seconds)
        return await self._frontier.release([lease], delay_seconds=delay_seconds)

    async def take_robots(self, request: FetchRequest, result: FetchedPage | FetchFailed) -> None:
        """Take the response of a robots.txt, or its failure."""
        assert self.robots
        await self.end(request.lease, await self.robots.take(request, result))

    def _outside(self, lease: Lease) -> str:
        """Return why a URL is out of scope as the rules are now: they may have changed since it was queued.

        Only pages that were linked to must have the URL of a page.
        """
        if self.context.scope is None:
            return ""
        is_linked = lease.kind is RequestKind.PAGE or (lease.kind is RequestKind.TICKET and lease.hops > 0)
        url = plain_url(lease.url) if is_linked else f"http://{lease.host}/"
        return self.context.scope.allows(url, lease.hops)

    async def _skip_reason(self, lease: Lease) -> Reason:
        """Return why a URL is not requested, whatever robots.txt says; none when it may be."""
        host_policy = self._processor.host_policy
        poisoned = await poison_reason(self._frontier, lease)
        return poisoned or (host_policy.skip_reason(lease.url) if host_policy else NO_REASON)

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
        return await self.robots.delay_seconds(url) if self.robots else self.context.politeness.delay_seconds

    async def host_signals(self, lease: Lease) -> tuple[UsageSignal, ...]:
        """Return the usage signals for a URL in the files of its host; none when robots.txt is ignored."""
        return await self.robots.signals(lease) if self.robots else ()

    async def settle(self, lease: Lease, settling: Awaitable[Any]) -> Any:
        """Wait until a lease is settled, which makes room for another; return the result.

        Raises:
            StoreFailed: The error is kept in `fatal`.
        """
        try:
            settled = await settling
            if self._address:
                await self._address.release_lock(lease, delay_seconds=self.context.politeness.delay_seconds)
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

    async def release_all(self) -> None:
        """Return the leases that were not settled, one that is being granted just now among them."""
        if self._reporting:
            self._reporting.cancel()
        if self._granting:
            await self._granting
        leases, self.open = list(self.open.values()), {}
        if leases:
            await self._frontier.release(leases)
