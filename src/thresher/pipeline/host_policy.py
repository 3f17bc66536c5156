"""Limits per host (budget, traps) and side requests to hosts (sitemaps, feeds, soft-404 probes).

The pipeline uses `HostPolicy` only, which delegates to budgets, trap detection, sitemaps and feeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thresher.frontier.base import CrawlStore
from thresher.parsing.response import ResponseClass, ResponseKind
from thresher.politeness.host_budget import HostBudget, over_budget
from thresher.records import Candidate, FetchedPage, Lease, ParsedPage
from thresher.sitemaps.feeds import FeedSource, is_feed
from thresher.sitemaps.source import SitemapHosts, SitemapSource, is_sitemap
from thresher.strategies.base import Strategy
from thresher.traps.detector import TrapDetector, is_probe, trap


@dataclass(frozen=True, kw_only=True)
class HostPolicyConfig:
    """Settings of the host policy.

    Args:
        budget: Maximum number of pages of a host.
        traps: Whether sites that generate endless pages are detected and skipped.
        sitemaps: Hosts whose sitemaps are read; None for no host.
        feeds: Hosts whose feeds are read; None for seeds that are feeds only.
    """

    budget: HostBudget = field(default_factory=HostBudget)
    traps: bool = False
    sitemaps: SitemapHosts | None = None
    feeds: SitemapHosts | None = None


@dataclass(frozen=True, kw_only=True)
class SideResult:
    """Result of a side request.

    Args:
        reason: Text for users.
        side_requests: Further side requests.
        pages: Candidates, not yet filtered by scope.
    """

    reason: str
    side_requests: Sequence[Candidate] = ()
    pages: Sequence[Candidate] = ()


def is_side_request(lease: Lease) -> bool:
    """Return whether a lease is not for a page; judge and strategy do not see its response."""
    return bool(lease.carry) and (is_sitemap(lease) or is_probe(lease) or is_feed(lease))


class HostPolicy:
    """Applies the host limits for one worker."""

    def __init__(self, config: HostPolicyConfig, *, frontier: CrawlStore, strategy: Strategy) -> None:
        self._budget = config.budget
        self._frontier = frontier
        self._traps = TrapDetector(frontier) if config.traps else None
        self.sitemaps = SitemapSource(frontier, strategy, config.sitemaps)
        self._feeds = FeedSource(strategy, config.feeds)

    def reject_reason(self, url: str) -> str:
        """Return why a URL must not enter the frontier; empty when it may."""
        return trap(url) or self.skip_reason(url)

    def skip_reason(self, url: str) -> str:
        """Return why a URL of the frontier must not be fetched any more; empty when it may be."""
        return self._traps.skip_reason(url) if self._traps else ""

    async def is_soft_404(self, lease: Lease, page: ParsedPage) -> tuple[bool, str]:
        """Return whether a page is a soft 404, and if so why its host should be parked (empty for no)."""
        if self._traps is None or not await self._traps.is_missing(lease, page):
            return False, ""
        return True, await self._traps.observe(lease, page, relevant=False, duplicate=True)

    async def record_page(self, lease: Lease, page: ParsedPage, *, relevant: bool, duplicate: bool) -> str:
        """Record a page; return why its host should be parked, empty when it should not."""
        reason = await over_budget(self._budget, lease, relevant=relevant, frontier=self._frontier)
        if self._traps and not reason:
            return await self._traps.observe(lease, page, relevant=relevant, duplicate=duplicate)
        return reason

    async def side_requests(self, lease: Lease, page: ParsedPage) -> list[Candidate]:
        """Return the side requests to the host of a page: probes, sitemaps and feeds."""
        probes = self._traps.probe(lease) if self._traps else []
        return [*probes, *await self.sitemaps.of_host(lease), *self._feeds.of_page(lease, page)]

    async def read_feed(self, lease: Lease, fetched: FetchedPage) -> SideResult | None:
        """Read a feed that was fetched like a page; None when it is not wanted."""
        if not self._feeds.is_wanted(lease):
            return None
        pages, reason = await self._feeds.read(lease, fetched)
        return SideResult(reason=reason, pages=pages)

    async def process_side_response(
        self, lease: Lease, fetched: FetchedPage, response: ResponseClass, parse: Callable[[], ParsedPage]
    ) -> SideResult:
        """Process the response of a side request."""
        if is_sitemap(lease):
            return await self._process_sitemap(lease, fetched, response)
        if is_feed(lease):
            return await self._process_feed(lease, fetched, response)
        page = parse() if response.kind is ResponseKind.PAGE else None
        return SideResult(reason=await self._traps.take_probe(lease, page) if self._traps else "")

    async def _process_feed(self, lease: Lease, fetched: FetchedPage, response: ResponseClass) -> SideResult:
        if response.kind is ResponseKind.REDIRECT:
            return SideResult(reason=response.reason, side_requests=self._feeds.moved(lease, response.target))
        if not 200 <= fetched.status < 300:
            return SideResult(reason=response.reason)
        pages, reason = await self._feeds.read(lease, fetched)
        return SideResult(reason=reason, pages=pages)

    async def _process_sitemap(self, lease: Lease, fetched: FetchedPage, response: ResponseClass) -> SideResult:
        if response.kind is ResponseKind.REDIRECT:
            return SideResult(reason=response.reason, side_requests=self.sitemaps.moved(lease, response.target))
        if not 200 <= fetched.status < 300:
            return SideResult(reason=response.reason)
        side_requests, pages, reason = await self.sitemaps.read(lease, fetched)
        return SideResult(reason=reason, side_requests=side_requests, pages=pages)
