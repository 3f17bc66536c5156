"""The robots gate: decides for each lease whether robots.txt allows its page, and which robots.txt is fetched first.

The first lease of a host whose robots.txt is unknown is used to fetch it; its URL is released and waits for the host's
delay like any other. When a robots.txt redirects to another host, a robots entry is added to the frontier, so that the
other host is requested when it is ready.

A robots entry waits in the frontier like a page, so that the host's delay and its limit of one open request apply. It
gives no page.

A tdmrep.json, where it is wanted, is fetched in the same way by a lease whose page robots.txt allows. One request a day
is enough: a host that does not answer it reserves nothing.

The gate changes no lease: it returns what is to be done with one, and the lease loop does it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thresher.engine.download.errors import AddressRefused, FetchFailed, LeaseExpired, TooSlow, WorkerStopped
from thresher.engine.download.request import FetchRequest
from thresher.engine.download.slow_hosts import WAIT_SECONDS
from thresher.frontier.base import CrawlStore, entry_url, plain_url
from thresher.parsing.opt_outs import denied_uses, opted_out_reason
from thresher.parsing.response import classify_response
from thresher.pipeline.host_policy import HostPolicy
from thresher.politeness.robots import (
    DAY_SECONDS,
    MAX_BYTES,
    RobotsCache,
    RobotsFile,
    robots_text,
    robots_url,
    with_other_scheme,
)
from thresher.politeness.settings import Politeness
from thresher.politeness.tdmrep import TDMREP_PATH, reservation_signals, reservations_in
from thresher.reasons.reason import NO_REASON, Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Lease, RequestKind, UsageSignal
from thresher.urls.canonical import host_key

if TYPE_CHECKING:
    from thresher.pipeline.outcomes import CrawlScope

logger = logging.getLogger(__name__)

_AGAIN_SECONDS = 3600.0
"""A URL enters the frontier once; with the hour in its URL a robots entry can be queued again an hour later."""


def robots_entry(place: str, *, score: float, at: float) -> Candidate:
    """Return the frontier entry for a robots.txt on another host; it has the score of the URL that needs it."""
    url = entry_url(place, f"robots-{int(at // _AGAIN_SECONDS)}")
    return Candidate(url=url, score=score, kind=RequestKind.ROBOTS)


@dataclass(frozen=True, slots=True)
class Allow:
    """The page of the lease may be requested now."""


@dataclass(frozen=True, slots=True)
class FetchRobots:
    """This robots.txt, or tdmrep.json, is requested with the lease."""

    url: str


@dataclass(frozen=True, slots=True)
class Park:
    """The host is parked, and the lease is released."""

    reason: Reason
    seconds: float
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Reject:
    """The lease fails."""

    reason: Reason
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Release:
    """The lease is released unused."""

    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Finish:
    """The lease of a robots entry is done."""

    delay_seconds: float = 0.0


Ending = Park | Reject | Release | Finish
"""How a lease ends without a page."""


ROBOTS_ENTRY_SECONDS = 5.0
"""Pause of a host whose robots.txt is on another host, before checking again whether it was fetched."""

ROBOTS_MAX_BYTES = MAX_BYTES + 4096
"""Download limit of a robots.txt, independent of the limit for pages."""

ROBOTS_HEADERS = {"Accept": "text/plain,*/*;q=0.1"}


class RobotsGate:
    """Checks leases against robots.txt.

    Args:
        scope: Hosts that may be requested for the robots.txt of another; None for all.
    """

    def __init__(
        self,
        robots_cache: RobotsCache,
        frontier: CrawlStore,
        *,
        scope: CrawlScope | None,
        host_policy: HostPolicy | None,
        politeness: Politeness,
    ) -> None:
        self._robots_cache = robots_cache
        self._frontier = frontier
        self._scope = scope
        self._host_policy = host_policy
        self._politeness = politeness

    async def check(self, lease: Lease) -> Allow | FetchRobots | Ending:
        """Return whether the page of a lease may be requested, or what is to be done instead."""
        if lease.kind is RequestKind.ROBOTS:
            place = plain_url(lease.url)
            return Finish() if await self._robots_cache.knows(place) else FetchRobots(place)
        rules = await self._robots_cache.look_up(lease.url)
        if isinstance(rules, RobotsFile):
            return await self._allowed_by(rules, lease)
        if host_key(rules) == lease.host:
            return FetchRobots(rules)
        return await self._queue_robots_entry(rules, lease)

    async def allows(self, url: str) -> bool:
        """Return whether the rules for a URL are known and allow it."""
        rules = await self._robots_cache.file_for(url)
        return rules is not None and rules.allows(url)

    async def delay_seconds(self, url: str) -> float:
        """Return the delay of a URL's host: ours, or its Crawl-delay if that is longer."""
        rules = await self._robots_cache.file_for(url)
        crawl_delay = min(rules.crawl_delay_seconds, self._politeness.max_crawl_delay_seconds) if rules else 0.0
        return max(self._politeness.delay_seconds, crawl_delay)

    async def signals(self, lease: Lease) -> tuple[UsageSignal, ...]:
        """Return the usage signals for the URL of a lease in the files of its host."""
        rules = await self._robots_cache.file_for(lease.url)
        reserved = await self._reservations(rules, lease) if rules else None
        own = rules.signals(lease.url) if rules else ()
        return *own, *(reservation_signals(reserved.text, lease.url) if isinstance(reserved, RobotsFile) else ())

    async def _allowed_by(self, rules: RobotsFile, lease: Lease) -> Allow | FetchRobots | Ending:
        if ending := await self._blocked_by(rules, lease):
            return ending
        if not rules.allows(lease.url):
            return Reject(Reason(ReasonKind.ROBOTS))
        if opted_out := self._opted_out(rules.signals(lease.url)):
            return Reject(opted_out)
        reserved = await self._reservations(rules, lease)
        if isinstance(reserved, str):
            return FetchRobots(reserved)
        opted_out = self._opted_out(reservation_signals(reserved.text, lease.url)) if reserved else NO_REASON
        return Reject(opted_out) if opted_out else Allow()

    def _opted_out(self, signals: Sequence[UsageSignal]) -> Reason:
        return opted_out_reason(denied_uses(signals)) if self._politeness.obey_opt_outs else NO_REASON

    async def _reservations(self, rules: RobotsFile, lease: Lease) -> RobotsFile | str | None:
        """Return the tdmrep.json for a lease, or its URL when it must be requested first; None when it is not read."""
        is_wanted = lease.kind.is_page and lease.host_pages + 1 >= self._politeness.tdmrep_from_page
        if not is_wanted or not rules.allows(robots_url(lease.url, TDMREP_PATH)):
            return None
        return await self._robots_cache.look_up(lease.url, TDMREP_PATH)

    async def _blocked_by(self, rules: RobotsFile, lease: Lease, *, delay_seconds: float = 0.0) -> Ending | None:
        """Return how a lease ends whose rules are unreadable or demand too long a delay; None for others."""
        crawl_delay = rules.crawl_delay_seconds
        is_too_slow = crawl_delay > self._politeness.max_crawl_delay_seconds
        why = rules.trouble or (Reason.of(ReasonKind.CRAWL_DELAY, f"{crawl_delay:g}") if is_too_slow else NO_REASON)
        if rules.trouble and await self._is_readable(with_other_scheme(lease.url)):
            return Reject(why, delay_seconds)
        return self._park(why, until=rules.until, delay_seconds=delay_seconds) if why else None

    async def _is_readable(self, url: str) -> bool:
        """Return whether the rules for a URL were read; then those of the other scheme do not park the host."""
        rules = await self._robots_cache.file_for(url)
        return rules is not None and not rules.trouble

    async def _queue_robots_entry(self, place: str, lease: Lease) -> Park:
        """Queue a robots.txt request to another host; the host that needs it is parked meanwhile."""
        host, now = host_key(place), self._robots_cache.clock()
        if self._scope and self._scope.allows(f"http://{host}/", 0):
            await self._robots_cache.learn(place, 0, reason=Reason.of(ReasonKind.ROBOTS_OUTSIDE, host))
        else:
            await self._frontier.add([robots_entry(place, score=lease.score, at=now)])
        return self._park(Reason.of(ReasonKind.ROBOTS_ELSEWHERE, host), until=now + ROBOTS_ENTRY_SECONDS)

    async def take(self, request: FetchRequest, result: FetchedPage | FetchFailed) -> Ending:
        """Store the rules of a host, or where they are, or that they cannot be fetched now."""
        if isinstance(result, FetchFailed):
            return await self._take_failure(request, result)
        lease, place = request.lease, request.url
        answer = classify_response(result)
        if result.truncated and len(result.body) < MAX_BYTES:  # the missing part may forbid the page
            return await self._learned(lease, place, 0, reason=Reason(ReasonKind.ROBOTS_CUT))
        target, wait_seconds = answer.target, answer.wait_seconds
        return await self._learned(lease, place, result.status, result.body, target=target, wait_seconds=wait_seconds)

    async def _take_failure(self, request: FetchRequest, error: FetchFailed) -> Ending:
        lease = request.lease
        if isinstance(error, LeaseExpired):  # no request was sent
            return Release()
        if isinstance(error, TooSlow):  # cancelled to free the slot; the rules remain unknown
            return Release(WAIT_SECONDS)
        if isinstance(error, WorkerStopped):  # the rules remain unknown
            return Release(await self.delay_seconds(lease.url))
        if isinstance(error, AddressRefused) and lease.kind is not RequestKind.ROBOTS:
            return Reject(error.reason)
        return await self._learned(lease, request.url, 0, reason=error.reason)

    async def _learned(self, lease: Lease, place: str, status: int, body: bytes = b"", **more: Any) -> Ending:
        if place == robots_url(lease.url, TDMREP_PATH) and await self._robots_cache.file_for(lease.url):
            known = body if reservations_in(robots_text(body)) else b""  # many sites answer with a page
            await self._robots_cache.learn(place, status, known, wait_seconds=DAY_SECONDS)
            return Release(await self.delay_seconds(lease.url))
        answer = await self._robots_cache.learn(place, status, body, **more)
        if answer.tries:
            logger.warning("no robots.txt: %s: %s", place, answer.why)
        rules = await self._robots_cache.file_for(lease.url)
        if rules and self._host_policy:
            await self._host_policy.sitemaps.listed(lease.host, rules.text)
        delay_seconds = await self.delay_seconds(lease.url)
        if lease.kind is RequestKind.ROBOTS:
            return Finish(delay_seconds)
        blocked = await self._blocked_by(rules, lease, delay_seconds=delay_seconds) if rules else None
        return blocked or Release(delay_seconds)

    def _park(self, reason: Reason, *, until: float, delay_seconds: float = 0.0) -> Park:
        return Park(reason, max(1.0, until - self._robots_cache.clock()), delay_seconds)
