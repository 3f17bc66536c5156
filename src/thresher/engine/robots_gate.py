"""The robots gate: decides for each lease whether robots.txt allows its page, and fetches robots.txt first.

The first lease of a host whose robots.txt is unknown is used to fetch it; its URL is released and waits for the host's
delay like any other. When a robots.txt redirects to another host, a robots entry is added to the frontier, so that the
other host is requested when it is ready.

A robots entry is a URL of the other host with a fragment that no page can have: canonical URLs have none. It waits in
the frontier like a page, so that the host's delay and its limit of one open request apply. It gives no page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from thresher.engine.download.errors import AddressRefused, FetchFailed, LeaseExpired, TooSlow, WorkerStopped
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import WAIT_SECONDS
from thresher.parsing.opt_outs import opted_out_reason
from thresher.parsing.response import classify_response
from thresher.pipeline.host_policy import HostPolicy
from thresher.pipeline.links import CrawlScope
from thresher.pipeline.processor import ResponseProcessor
from thresher.politeness.robots import MAX_BYTES, RobotsCache, RobotsFile, with_other_scheme
from thresher.records import Candidate, FetchedPage, Lease, Outcome, Settlement
from thresher.urls.canonical import host_key

logger = logging.getLogger(__name__)

_MARK = "#robots-"
_AGAIN_SECONDS = 3600.0
"""A URL enters the frontier once; with the hour in its fragment a robots entry can be queued again an hour later."""


def robots_entry(place: str, *, score: float, at: float) -> Candidate:
    """Return the frontier entry for a robots.txt on another host; it has the score of the URL that needs it."""
    return Candidate(url=f"{place}{_MARK}{int(at // _AGAIN_SECONDS)}", score=score)


def robots_url_of(lease: Lease) -> str:
    """Return the URL of the robots.txt that a robots entry is for; empty for the lease of a page."""
    place, mark, _ = lease.url.partition(_MARK)
    return place if mark else ""


ROBOTS_ENTRY_SECONDS = 5.0
"""Pause of a host whose robots.txt is on another host, before checking again whether it was fetched."""

ROBOTS_MAX_BYTES = MAX_BYTES + 4096
"""Download limit of a robots.txt, independent of the limit for pages."""

Settle = Callable[[Lease, Awaitable[Any]], Awaitable[Any]]
"""Waits until a lease is settled, and makes room for another one."""
MakeRequest = Callable[..., FetchRequest]


class RobotsGate:
    """Checks leases against robots.txt, and fetches missing robots.txt files.

    Args:
        scope: Hosts that may be requested for the robots.txt of another; None for all.
        delay_seconds: Minimum time between the end of one fetch from a host and the start of the next.
        longest_crawl_delay_seconds: A host with a longer Crawl-delay is parked.
        obey_opt_outs: Whether pages are not requested if the robots.txt of their host denies an AI use.
    """

    def __init__(
        self,
        robots_cache: RobotsCache,
        processor: ResponseProcessor,
        *,
        scope: CrawlScope | None,
        host_policy: HostPolicy | None,
        delay_seconds: float,
        longest_crawl_delay_seconds: float,
        settle: Settle,
        make_request: MakeRequest,
        obey_opt_outs: bool = False,
    ) -> None:
        self._robots_cache = robots_cache
        self._processor = processor
        self._frontier = processor.frontier
        self._scope = scope
        self._host_policy = host_policy
        self._delay_seconds = delay_seconds
        self._longest_crawl_delay_seconds = longest_crawl_delay_seconds
        self._settle = settle
        self._make_request = make_request
        self._obey_opt_outs = obey_opt_outs

    async def request(self, lease: Lease) -> FetchRequest | bool:
        """Return the robots.txt request to send for a lease; or whether its page may be requested now."""
        if place := robots_url_of(lease):
            if not await self._robots_cache.knows(place):
                return self._robots_request(place, lease)
            await self._settle(lease, self._finish_robots_entry(lease))
            return False
        rules = await self._robots_cache.look_up(lease.url)
        if isinstance(rules, RobotsFile):
            return await self._allowed_by(rules, lease)
        if host_key(rules) == lease.host:
            return self._robots_request(rules, lease)
        await self._queue_robots_entry(rules, lease)
        return False

    async def allows(self, url: str) -> bool:
        """Return whether the rules for a URL are known and allow it."""
        rules = await self._robots_cache.file_for(url)
        return rules is not None and rules.allows(url)

    async def delay_seconds(self, url: str) -> float:
        """Return the delay of a URL's host: ours, or its Crawl-delay if that is longer."""
        rules = await self._robots_cache.file_for(url)
        crawl_delay = min(rules.crawl_delay_seconds, self._longest_crawl_delay_seconds) if rules else 0.0
        return max(self._delay_seconds, crawl_delay)

    async def opt_outs(self, url: str) -> frozenset[str]:
        """Return the uses of a URL that its host denies in robots.txt."""
        rules = await self._robots_cache.file_for(url)
        return rules.opt_outs(url) if rules else frozenset()

    async def _allowed_by(self, rules: RobotsFile, lease: Lease) -> bool:
        if await self._is_blocked_by(rules, lease):
            return False
        opted_out = opted_out_reason(rules.opt_outs(lease.url)) if self._obey_opt_outs else ""
        if reason := opted_out if rules.allows(lease.url) else "robots.txt":
            await self._settle(lease, self._processor.fail(lease, reason, at=time.time()))
        return not reason

    async def _is_blocked_by(self, rules: RobotsFile, lease: Lease, *, delay_seconds: float = 0.0) -> bool:
        """Park the host, or fail the lease, if the rules are unreadable or demand too long a delay; return whether."""
        crawl_delay = rules.crawl_delay_seconds
        too_slow = f"asks for a delay of {crawl_delay:g} s" if crawl_delay > self._longest_crawl_delay_seconds else ""
        why = rules.trouble or too_slow
        if rules.trouble and await self._is_readable(with_other_scheme(lease.url)):
            failing = self._processor.fail(lease, why, at=time.time(), delay_seconds=delay_seconds)
            await self._settle(lease, failing)
        elif why:
            await self._park(lease, why, until=rules.until, delay_seconds=delay_seconds)
        return bool(why)

    async def _is_readable(self, url: str) -> bool:
        """Return whether the rules for a URL were read; then those of the other scheme do not park the host."""
        rules = await self._robots_cache.file_for(url)
        return rules is not None and not rules.trouble

    async def _queue_robots_entry(self, place: str, lease: Lease) -> None:
        """Queue a robots.txt request to another host; the host that needs it is parked meanwhile."""
        host, now = host_key(place), self._robots_cache.clock()
        if self._scope and self._scope.allows(f"http://{host}/", 0):
            await self._robots_cache.learn(place, 0, reason=f"it leads to {host}, outside the crawl")
        else:
            await self._frontier.add([robots_entry(place, score=lease.score, at=now)])
        reason = f"robots.txt is on {host}, which is asked in its turn"
        await self._park(lease, reason, until=now + ROBOTS_ENTRY_SECONDS)

    def _robots_request(self, place: str, lease: Lease) -> FetchRequest:
        headers = {"Accept": "text/plain,*/*;q=0.1"}
        return self._make_request(place, lease, headers=headers, max_bytes=ROBOTS_MAX_BYTES, is_robots=True)

    async def take(self, request: FetchRequest, fetched: FetchedPage) -> None:
        """Store the rules of a host, or where they are; the lease is released."""
        lease, place = request.lease, request.url
        answer = classify_response(fetched)
        if fetched.truncated and len(fetched.body) < MAX_BYTES:  # the missing part may forbid the page
            await self._learned(lease, place, 0, reason="the answer broke off")
        else:
            target, wait_seconds = answer.target, answer.wait_seconds
            await self._learned(lease, place, fetched.status, fetched.body, target=target, wait_seconds=wait_seconds)

    async def take_failure(self, request: FetchRequest, error: FetchFailed) -> None:
        """Record that the robots.txt of a host cannot be fetched now."""
        lease = request.lease
        if isinstance(error, LeaseExpired):  # no request was sent
            await self._settle(lease, self._frontier.release([lease]))
        elif isinstance(error, TooSlow):  # cancelled to free the slot; the rules remain unknown
            await self._settle(lease, self._frontier.release([lease], delay_seconds=WAIT_SECONDS))
        elif isinstance(error, WorkerStopped):  # the rules remain unknown
            delay_seconds = await self.delay_seconds(lease.url)
            await self._settle(lease, self._frontier.release([lease], delay_seconds=delay_seconds))
        elif isinstance(error, AddressRefused) and not robots_url_of(lease):
            await self._settle(lease, self._processor.fail(lease, error.reason, at=time.time()))
        else:
            await self._learned(lease, request.url, 0, reason=error.reason)

    async def _learned(self, lease: Lease, place: str, status: int, body: bytes = b"", **more: Any) -> None:
        answer = await self._robots_cache.learn(place, status, body, **more)
        if answer.tries:
            logger.warning("no robots.txt: %s: %s", place, answer.reason or f"http {answer.status}")
        rules = await self._robots_cache.file_for(lease.url)
        if rules and self._host_policy:
            await self._host_policy.sitemaps.listed(lease.host, rules.text)
        delay_seconds = await self.delay_seconds(lease.url)
        if robots_url_of(lease):
            await self._settle(lease, self._finish_robots_entry(lease, delay_seconds=delay_seconds))
        elif not rules or not await self._is_blocked_by(rules, lease, delay_seconds=delay_seconds):
            await self._settle(lease, self._frontier.release([lease], delay_seconds=delay_seconds))

    async def _finish_robots_entry(self, lease: Lease, *, delay_seconds: float = 0.0) -> None:
        await self._frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=delay_seconds)])

    async def _park(self, lease: Lease, reason: str, *, until: float, delay_seconds: float = 0.0) -> None:
        """Park the host of a lease until a time, and release the lease."""
        seconds = max(1.0, until - self._robots_cache.clock())
        await self._frontier.park(lease.host, reason, seconds=seconds)
        await self._settle(lease, self._frontier.release([lease], delay_seconds=delay_seconds))
