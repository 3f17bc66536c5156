"""What keeps one host from taking the whole crawl, and what is asked of hosts beside their pages.

The line talks to the warden alone; budgets, the watch for traps and sitemaps stand behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from thresher.budgets import Budget, over_budget
from thresher.frontier.base import Frontier
from thresher.parse.answers import Answer, AnswerKind
from thresher.records import Candidate, FetchedPage, Lease, ParsedPage
from thresher.sitemaps.source import SitemapHosts, SitemapSource, is_sitemap
from thresher.strategies.base import Strategy
from thresher.traps.probe import is_probe
from thresher.traps.watch import TrapWatch
from thresher.urls.traps import trap


@dataclass(frozen=True, kw_only=True)
class Watchfulness:
    """How hosts are watched.

    Args:
        budget: How many pages a host may give.
        traps: Whether sites that make up pages without end are left alone.
        sitemaps: Whose sitemaps are read; None for nobody's.
    """

    budget: Budget = field(default_factory=Budget)
    traps: bool = False
    sitemaps: SitemapHosts | None = None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an answer that is no page brought.

    Args:
        reason: For people.
        asides: What else to ask that is no page.
        pages: Candidates, before scope.
    """

    reason: str
    asides: Sequence[Candidate] = ()
    pages: Sequence[Candidate] = ()


def is_aside(lease: Lease) -> bool:
    """Tell whether a lease is not for a page: neither judge nor strategy hear of it."""
    return bool(lease.carry) and (is_sitemap(lease) or is_probe(lease))


class Warden:
    """Watches over the hosts of one worker."""

    def __init__(self, how: Watchfulness, *, frontier: Frontier, strategy: Strategy) -> None:
        self._budget = how.budget
        self._frontier = frontier
        self._traps = TrapWatch(frontier) if how.traps else None
        self.sitemaps = SitemapSource(frontier, strategy, how.sitemaps)

    def refuses(self, url: str) -> str:
        """Say why a URL should not be let in; empty when it may be."""
        return trap(url) or self.leaves(url)

    def leaves(self, url: str) -> str:
        """Say why a URL that was let in should be left alone after all."""
        return self._traps.leaves(url) if self._traps else ""

    async def misses(self, lease: Lease, page: ParsedPage) -> tuple[bool, str]:
        """Tell whether a page only says that there is none, and why its host should be asked no more, if so."""
        if self._traps is None or not await self._traps.is_missing(lease, page):
            return False, ""
        return True, await self._traps.see(lease, page, relevant=False, copy=True)

    async def after(self, lease: Lease, page: ParsedPage, *, relevant: bool, copy: bool) -> str:
        """Take in a page; say why its host should be asked no more, empty when it may be."""
        reason = await over_budget(self._budget, lease, relevant=relevant, frontier=self._frontier)
        if self._traps and not reason:
            return await self._traps.see(lease, page, relevant=relevant, copy=copy)
        return reason

    async def asides(self, lease: Lease) -> list[Candidate]:
        """Return what to ask the host of a page beside its pages."""
        probes = self._traps.probe(lease) if self._traps else []
        return [*probes, *await self.sitemaps.of_host(lease)]

    async def take_aside(
        self, lease: Lease, fetched: FetchedPage, answer: Answer, parse: Callable[[], ParsedPage]
    ) -> Finding:
        """Take in an answer that is for no page."""
        if is_sitemap(lease):
            return await self._take_sitemap(lease, fetched, answer)
        page = parse() if answer.kind is AnswerKind.PAGE else None
        return Finding(reason=await self._traps.take_probe(lease, page) if self._traps else "")

    async def _take_sitemap(self, lease: Lease, fetched: FetchedPage, answer: Answer) -> Finding:
        if answer.kind is AnswerKind.REDIRECT:
            return Finding(reason=answer.reason, asides=self.sitemaps.moved(lease, answer.target))
        if not 200 <= fetched.status < 300:
            return Finding(reason=answer.reason)
        asides, pages, words = await self.sitemaps.read(lease, fetched)
        return Finding(reason=words, asides=asides, pages=pages)
