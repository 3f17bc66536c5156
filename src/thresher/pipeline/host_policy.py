"""Limits per host (budget, traps) and side requests to hosts (sitemaps, feeds, soft-404 probes).

The pipeline uses `HostPolicy` only, which delegates to budgets, trap detection, sitemaps and feeds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from thresher.frontier.base import CrawlStore
from thresher.parsing.response import ResponseClass, ResponseKind
from thresher.politeness.host_budget import HostBudget, over_budget
from thresher.reasons.reason import NO_REASON, Reason
from thresher.records import Candidate, FetchedPage, Lease, ParsedPage, RequestKind
from thresher.sitemaps.feeds import FeedSource
from thresher.sitemaps.source import SitemapHosts, SitemapSource
from thresher.strategies.base import Strategy
from thresher.traps.detector import TrapDetector, trap

Parse = Callable[[str, bytes, str], ParsedPage]  # from a URL, its bytes and their content type


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


@dataclass(frozen=True)
class SideResult:
    """Result of a side request.

    Args:
        reason: A summary.
        side_requests: Further side requests.
        pages: Candidates, not yet filtered by scope.
    """

    reason: Reason
    side_requests: Sequence[Candidate] = ()
    pages: Sequence[Candidate] = ()


class HostPolicy:
    """Applies the host limits for one worker."""

    def __init__(self, config: HostPolicyConfig, *, frontier: CrawlStore, strategy: Strategy, parse: Parse) -> None:
        self._parse = parse
        self._budget = config.budget
        self._frontier = frontier
        self._traps = TrapDetector(frontier) if config.traps else None
        self.sitemaps = SitemapSource(frontier, strategy, config.sitemaps)
        self._feeds = FeedSource(strategy, config.feeds)

    def reject_reason(self, url: str) -> str:
        """Return why a URL must not enter the frontier; empty when it may."""
        if shape := trap(url):
            return shape
        reason = self.skip_reason(url)
        return str(reason) if reason else ""

    def skip_reason(self, url: str) -> Reason:
        """Return why a URL of the frontier must not be fetched any more; none when it may be."""
        return self._traps.skip_reason(url) if self._traps else NO_REASON

    async def is_soft_404(self, lease: Lease, page: ParsedPage) -> tuple[bool, Reason]:
        """Return whether a page is a soft 404, and if so why its host should be parked (none for no)."""
        if self._traps is None or not await self._traps.is_missing(lease, page):
            return False, NO_REASON
        return True, await self._traps.observe(lease, page, relevant=False, duplicate=True)

    async def record_page(self, lease: Lease, page: ParsedPage, *, relevant: bool, duplicate: bool) -> Reason:
        """Record a page; return why its host should be parked, none when it should not."""
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
        return SideResult(*await self._feeds.read(lease, fetched))

    async def take_probe(self, lease: Lease, fetched: FetchedPage, response: ResponseClass) -> SideResult:
        """Process the response of a probe."""
        content = lease.url, fetched.body, fetched.headers.get("content-type", "")
        page = self._parse(*content) if response.kind is ResponseKind.PAGE else None
        return SideResult(reason=await self._traps.take_probe(lease, page) if self._traps else NO_REASON)

    async def take_list(self, lease: Lease, fetched: FetchedPage, response: ResponseClass) -> SideResult:
        """Process the response of a sitemap, or of a feed that a page links to."""
        source = self.sitemaps if lease.kind is RequestKind.SITEMAP else self._feeds
        if response.kind is ResponseKind.REDIRECT:
            return SideResult(reason=response.reason, side_requests=source.moved(lease, response.target))
        if not 200 <= fetched.status < 300:
            return SideResult(reason=response.reason)
        return SideResult(*await source.read(lease, fetched))


Handler = Callable[[HostPolicy, Lease, FetchedPage, ResponseClass], Awaitable[SideResult]]

HANDLERS: Mapping[RequestKind, Handler] = {
    RequestKind.SITEMAP: HostPolicy.take_list,
    RequestKind.FEED: HostPolicy.take_list,
    RequestKind.PROBE: HostPolicy.take_probe,
}
"""What takes the responses of side requests. The engine takes those of ROBOTS; all others may be pages."""
