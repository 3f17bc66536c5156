"""The robots turn: what a lease is spent on before its page may be asked for.

A host whose robots.txt is not known yet spends its first lease on fetching that, and its URL goes back to wait for
the host's delay like any other. When a robots.txt is on another host, that host is asked in its own turn: an errand,
a frontier entry of its own, waits there for a lease.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

import scrapy
from scrapy.http import Response
from twisted.python.failure import Failure

from thresher.engine.convert import failure_reason, fetched_page
from thresher.engine.download import LeaseOver, TooSlow
from thresher.engine.errands import errand, place_of
from thresher.engine.patience import WAIT_SECONDS
from thresher.engine.resolver import why_refused
from thresher.engine.robots import MAX_BYTES, RobotsFile, RobotsKeeper, with_other_scheme
from thresher.line import Bounds, Line
from thresher.parse.answers import read_answer
from thresher.records import Lease, Outcome, Settlement
from thresher.urls.host import host_key
from thresher.warden import Warden

logger = logging.getLogger(__name__)

ERRAND_SECONDS = 5.0
"""How long a host rests whose rules are on another host, before it is looked whether they are here."""

ROBOTS_MAX_BYTES = MAX_BYTES + 4096
"""More of a robots.txt is not downloaded, whatever the bound for pages."""

Settle = Callable[[Lease, Awaitable[Any]], Awaitable[Any]]
"""Waits until a lease is settled; then there is room for another."""
MakeRequest = Callable[..., scrapy.Request]


class RobotsTurn:
    """Knows of each lease whether its page may be asked for, and fetches the rules that say so.

    Args:
        scope: Which hosts may be asked for the rules of another; None for all.
        delay_seconds: The least time between the end of one fetch from a host and the start of the next.
        longest_crawl_delay_seconds: A host that asks for a longer delay is left alone.
    """

    def __init__(
        self,
        keeper: RobotsKeeper,
        line: Line,
        *,
        scope: Bounds | None,
        warden: Warden | None,
        delay_seconds: float,
        longest_crawl_delay_seconds: float,
        settle: Settle,
        make_request: MakeRequest,
    ) -> None:
        self._keeper = keeper
        self._line = line
        self._frontier = line.frontier
        self._scope = scope
        self._warden = warden
        self._delay_seconds = delay_seconds
        self._longest_crawl_delay_seconds = longest_crawl_delay_seconds
        self._settle = settle
        self._make_request = make_request

    async def request(self, lease: Lease) -> scrapy.Request | bool:
        """Return the request that a lease is spent on; or whether its page may be asked for at once."""
        if place := place_of(lease):
            if not await self._keeper.knows(place):
                return self._robots_request(place, lease)
            await self._settle(lease, self._end_errand(lease))
            return False
        rules = await self._keeper.look_up(lease.url)
        if isinstance(rules, RobotsFile):
            return await self._allowed_by(rules, lease)
        if host_key(rules) == lease.host:
            return self._robots_request(rules, lease)
        await self._send_errand(rules, lease)
        return False

    async def delay_seconds(self, url: str) -> float:
        """Return for how long the host of a URL is left alone after a fetch: as we mean to, or as it asks for."""
        rules = await self._keeper.file_for(url)
        asked = min(rules.crawl_delay_seconds, self._longest_crawl_delay_seconds) if rules else 0.0
        return max(self._delay_seconds, asked)

    async def _allowed_by(self, rules: RobotsFile, lease: Lease) -> bool:
        if await self._is_left_alone(rules, lease):
            return False
        if not rules.allows(lease.url):
            await self._settle(lease, self._line.fail(lease, "robots.txt", at=time.time()))
            return False
        return True

    async def _is_left_alone(self, rules: RobotsFile, lease: Lease, *, delay_seconds: float = 0.0) -> bool:
        """Park the host of a lease when rules keep us away from it, for as long as they hold; tell whether they do."""
        asked = rules.crawl_delay_seconds
        too_slow = f"asks for a delay of {asked:g} s" if asked > self._longest_crawl_delay_seconds else ""
        why = rules.trouble or too_slow
        if rules.trouble and await self._is_well(with_other_scheme(lease.url)):
            failing = self._line.fail(lease, why, at=time.time(), delay_seconds=delay_seconds)
            await self._settle(lease, failing)
        elif why:
            await self._leave_alone(lease, why, until=rules.until, delay_seconds=delay_seconds)
        return bool(why)

    async def _is_well(self, url: str) -> bool:
        """Tell whether the rules for a URL are known; then its host need not rest because others are not."""
        rules = await self._keeper.file_for(url)
        return rules is not None and not rules.trouble

    async def _send_errand(self, place: str, lease: Lease) -> None:
        """Have another host asked, in its turn, for rules; until they are here, the host that needs them rests."""
        host, now = host_key(place), self._keeper.clock()
        if self._scope and self._scope.allows(f"http://{host}/", 0):
            await self._keeper.learn(place, 0, reason=f"it leads to {host}, outside the crawl")
        else:
            await self._frontier.add([errand(place, score=lease.score, at=now)])
        reason = f"robots.txt is on {host}, which is asked in its turn"
        await self._leave_alone(lease, reason, until=now + ERRAND_SECONDS)

    def _robots_request(self, place: str, lease: Lease) -> scrapy.Request:
        request = self._make_request(place, lease, self.take, self.take_failure, place=place)
        request.headers["Accept"] = "text/plain,*/*;q=0.1"
        request.meta["download_maxsize"] = ROBOTS_MAX_BYTES
        return request

    async def take(self, response: Response, lease: Lease, place: str) -> None:
        """Learn the rules of a host, or where they are; the lease that paid for it goes back."""
        fetched = fetched_page(response, place)
        answer = read_answer(fetched)
        if fetched.truncated and len(fetched.body) < MAX_BYTES:  # the line that forbids may be the one that is missing
            await self._learned(lease, place, 0, reason="the answer broke off")
        else:
            target, wait_seconds = answer.target, answer.wait_seconds
            await self._learned(lease, place, response.status, response.body, target=target, wait_seconds=wait_seconds)

    async def take_failure(self, failure: Failure) -> None:
        """Note that the rules of a host cannot be read now."""
        asked = failure.request.cb_kwargs  # type: ignore[attr-defined]
        lease: Lease = asked["lease"]
        why, reason = why_refused(asked["place"]), failure_reason(failure.value)[0]
        if isinstance(failure.value, LeaseOver):  # nobody was asked
            await self._settle(lease, self._frontier.release([lease]))
        elif isinstance(failure.value, TooSlow):  # we broke it off to serve others: no word on the rules themselves
            await self._settle(lease, self._frontier.release([lease], delay_seconds=WAIT_SECONDS))
        elif why and not place_of(lease):
            await self._settle(lease, self._line.fail(lease, f"refused: {why}", at=time.time()))
        else:
            await self._learned(lease, asked["place"], 0, reason=f"refused: {why}" if why else reason)

    async def _learned(self, lease: Lease, place: str, status: int, body: bytes = b"", **more: Any) -> None:
        answer = await self._keeper.learn(place, status, body, **more)
        if answer.tries:
            logger.warning("no robots.txt: %s: %s", place, answer.reason or f"http {answer.status}")
        rules = await self._keeper.file_for(lease.url)
        if rules and self._warden:
            await self._warden.sitemaps.listed(lease.host, rules.text)
        delay_seconds = await self.delay_seconds(lease.url)
        if place_of(lease):
            await self._settle(lease, self._end_errand(lease, delay_seconds=delay_seconds))
        elif not rules or not await self._is_left_alone(rules, lease, delay_seconds=delay_seconds):
            await self._settle(lease, self._frontier.release([lease], delay_seconds=delay_seconds))

    async def _end_errand(self, lease: Lease, *, delay_seconds: float = 0.0) -> None:
        await self._frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, delay_seconds=delay_seconds)])

    async def _leave_alone(self, lease: Lease, reason: str, *, until: float, delay_seconds: float = 0.0) -> None:
        """Park a host for as long as the rules hold that keep us away."""
        seconds = max(1.0, until - self._keeper.clock())
        await self._frontier.park(lease.host, reason, seconds=seconds)
        await self._settle(lease, self._frontier.release([lease], delay_seconds=delay_seconds))
