"""Turns requests of a spider into frontier entries: on disk where possible, else in memory."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.statscollectors import StatsCollector

from thresher.frontier.base import plain_url
from thresher.pipeline.outcomes import CrawlScope
from thresher.records import Candidate, Lease
from thresher.urls.canonical import canonicalize, fingerprint
from thresher_scrapy.pages import Wanted
from thresher_scrapy.requests import KEY, InMemoryRequests, durable_form, why_not_durable

logger = logging.getLogger(__name__)


class RequestIntake:
    """Turns requests into frontier entries; logs once per cause that a request waits in memory.

    Args:
        scope: Which URLs belong to the crawl.
        fingerprint_of: Scrapy's request fingerprint, to filter duplicates of requests in memory.
    """

    def __init__(
        self,
        spider: Spider,
        *,
        scope: CrawlScope,
        in_memory_requests: InMemoryRequests,
        stats: StatsCollector,
        fingerprint_of: Callable[[Request], bytes],
    ) -> None:
        self._spider = spider
        self._scope = scope
        self._in_memory_requests = in_memory_requests
        self._stats = stats
        self._fingerprint_of = fingerprint_of
        self._in_memory: set[bytes] = set()
        self._logged: set[str] = set()

    def take(self, requests: Iterable[Request], lease: Lease | None, *, is_start: bool = False) -> list[Wanted]:
        """Return the requests to follow of those yielded on the page of a lease; of each URL the first one."""
        hops, parent = (lease.hops + 1, fingerprint(plain_url(lease.url))) if lease else (0, 0)
        taken: dict[str, Wanted] = {}
        for request in requests:
            if why := self._outside(request, hops, is_start=is_start):
                self._skip(request, why, is_start=is_start)
            elif wanted := self._wanted(request, is_start=is_start):
                placed = wanted.candidate._replace(hops=hops, parent=parent, score=lease.score if lease else 0.0)
                taken.setdefault(placed.url, replace(wanted, candidate=placed))
        return list(taken.values())

    def _wanted(self, request: Request, *, is_start: bool) -> Wanted | None:
        anchor = str(request.meta.get("link_text") or "").strip()
        why = why_not_durable(request, self._spider, is_start=is_start)
        url = canonicalize(request.url)
        if not why and url:
            return Wanted(
                candidate=Candidate(url=url, score=0.0, strategy_data={KEY: durable_form(request)}), anchor=anchor
            )
        if self._was_in_memory(request):
            return None
        self._log_once(request, why)
        ticket = self._in_memory_requests.issue(request)
        return Wanted(candidate=ticket, anchor=anchor, first=bool(request.method != "GET" or request.body))

    def _outside(self, request: Request, hops: int, *, is_start: bool) -> str:
        """Return why a request is not followed; empty when it is."""
        url = canonicalize(request.url)
        if url is None:
            return "no http or https URL"
        is_exempt = is_start or request.dont_filter or request.meta.get("allow_offsite")
        if not is_exempt and not _is_among(
            urlsplit(url).hostname or "", getattr(self._spider, "allowed_domains", None)
        ):
            return "offsite"
        return self._scope.allows(url, hops)

    def _was_in_memory(self, request: Request) -> bool:
        if request.dont_filter:
            return False
        known = self._fingerprint_of(request)
        was_there = known in self._in_memory
        self._in_memory.add(known)
        return was_there

    def _skip(self, request: Request, why: str, *, is_start: bool) -> None:
        self._stats.inc_value("thresher/left_out")
        self._stats.inc_value(f"thresher/left_out/{why}")
        logger.log(logging.WARNING if is_start else logging.DEBUG, "left out %s: %s", request.url, why)

    def _log_once(self, request: Request, why: str) -> None:
        self._stats.inc_value("thresher/in_memory")
        self._stats.inc_value(f"thresher/in_memory/{why}")
        if why not in self._logged:
            self._logged.add(why)
            logger.warning("waits in memory, and is lost if this process is killed: %s (%s)", request.url, why)


def _is_among(host: str, domains: Iterable[str] | None) -> bool:
    """Return whether a host is one of some domains or a subdomain of one; without domains, every host is."""
    if not domains:
        return True
    return any(host == domain or host.endswith(f".{domain}") for domain in map(str.lower, domains))
