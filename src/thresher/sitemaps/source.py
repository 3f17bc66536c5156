"""Sitemaps as entries of the frontier, and the scores of their URLs.

A sitemap is a URL of the frontier like any other: its host's delay, robots.txt and the address guard apply to it. It is
added with the first page of its host. Its URLs are scored by the strategy as the links of a seed without text that is
not relevant, so they come after URLs with any evidence; a strategy that does not follow such links leaves them out.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from thresher.frontier.base import CrawlStore
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, FetchedPage, Judgement, Lease, Link, ParsedPage, RequestKind
from thresher.sitemaps.parser import Entry, read_sitemap
from thresher.strategies.base import Strategy
from thresher.urls.canonical import canonicalize, fingerprint, host_key

MAX_INDEX_DEPTH = 3
"""Indexes that may lead to a sitemap; how many more there may be is its `depth_left`."""
MAX_FILES_PER_HOST = 50
MAX_URLS_PER_HOST = 10_000
LISTED, TAKEN = "listed sitemaps", "taken from sitemaps"
"""State of a host: the sitemaps in its robots.txt, and how many files and URLs were added from sitemaps."""
STATE_TTL_SECONDS = 30 * 24 * 3600.0
MAX_LISTED = 20
MAX_REDIRECTS = 5

_LINKS_AT_ONCE = 500
_SITEMAP_LINES = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE).findall


@dataclass(frozen=True, kw_only=True)
class SitemapHosts:
    """The hosts whose sitemaps, or feeds, are read; None for all hosts."""

    hosts: frozenset[str] | None = None

    def __contains__(self, host: str) -> bool:
        return self.hosts is None or host in self.hosts


class SitemapSource:
    """Turns hosts into sitemaps, and sitemaps into candidates; `wanted` is None when no sitemaps are read."""

    def __init__(self, frontier: CrawlStore, strategy: Strategy, wanted: SitemapHosts | None) -> None:
        self._frontier = frontier
        self._strategy = strategy
        self._wanted = wanted

    async def listed(self, host: str, robots: str) -> None:
        """Store which sitemaps the robots.txt of a host lists."""
        if self._wanted is None or host not in self._wanted:
            return
        if urls := listed_sitemaps(robots):
            await self._frontier.put_state(host, LISTED, json.dumps(urls), seconds=STATE_TTL_SECONDS)

    async def of_host(self, lease: Lease) -> list[Candidate]:
        """Return the sitemaps of a host after its first page: those that robots.txt lists, or /sitemap.xml."""
        if self._wanted is None or lease.host_pages or lease.host not in self._wanted:
            return []
        stored = await self._frontier.get_state(lease.host, LISTED)
        root = lease.url[: lease.url.index("/", len("https://"))]
        urls = json.loads(stored) if stored else [f"{root}/sitemap.xml"]
        return [_sitemap(url, lease, MAX_INDEX_DEPTH, lease.host) for url in urls]

    def moved(self, lease: Lease, target: str) -> list[Candidate]:
        """Return the target of a sitemap's redirect, if it is on the same host."""
        if host_key(target) != lease.host or lease.redirects >= MAX_REDIRECTS:
            return []
        same = _sitemap(target, lease, lease.depth_left, lease.for_host or lease.host)
        return [same._replace(redirects=lease.redirects + 1)]

    async def read(self, lease: Lease, fetched: FetchedPage) -> tuple[Reason, list[Candidate], list[Candidate]]:
        """Return a summary, and the sitemaps and the pages that a sitemap lists."""
        authorised_host, depth_left = lease.for_host or lease.host, min(lease.depth_left, MAX_INDEX_DEPTH)
        files, urls = json.loads(await self._frontier.get_state(authorised_host, TAKEN) or "[0, 0]")
        found = await asyncio.to_thread(read_sitemap, fetched.body, now=fetched.fetched_at)
        most = MAX_FILES_PER_HOST - files if depth_left else 0
        below = await asyncio.to_thread(_on_host, found.sitemaps, lease.host, most, lease.url)
        pages = await asyncio.to_thread(_on_host, found.pages, authorised_host, MAX_URLS_PER_HOST - urls, lease.url)
        taken = json.dumps([files + len(below), urls + len(pages)])
        await self._frontier.put_state(authorised_host, TAKEN, taken, seconds=STATE_TTL_SECONDS)
        counts = len(pages), len(found.pages), len(below), len(found.sitemaps)
        summary = Reason.of(ReasonKind.SITEMAP, *counts, *filter(None, [found.flaw]))
        sitemaps = [_sitemap(url, lease, depth_left - 1, authorised_host) for url in below]
        scored = score_listed(self._strategy, [Link(url=url) for url in pages], lease)
        return summary, sitemaps, list(scored)


def listed_sitemaps(robots: str) -> list[str]:
    """Return the canonical URLs of the sitemaps that a robots.txt lists."""
    return [url for address in _SITEMAP_LINES(robots)[:MAX_LISTED] if (url := canonicalize(address))]


def score_listed(
    strategy: Strategy, links: Sequence[Link], lease: Lease, judgement: Judgement | None = None
) -> Iterator[Candidate]:
    """Score links from a list of URLs as those of a seed without text.

    Args:
        judgement: Of the list; by default not relevant.
    """
    seed = next(iter(strategy.seeds([lease.url])))
    as_seed = replace(lease, strategy_data=seed.strategy_data, depth_left=seed.depth_left, score=seed.score, hops=0)
    judgement = judgement or Judgement(relevance=0.0, relevant=False)
    for start in range(0, len(links), _LINKS_AT_ONCE):
        page = ParsedPage(url=lease.url, links=tuple(links[start : start + _LINKS_AT_ONCE]))
        yield from strategy.score(page, judgement, as_seed)


def _sitemap(url: str, lease: Lease, depth_left: int, authorised_host: str) -> Candidate:
    return Candidate(
        url=url,
        score=lease.score,
        depth_left=depth_left,
        hops=lease.hops,
        parent=fingerprint(lease.url),
        kind=RequestKind.SITEMAP,
        for_host="" if authorised_host == host_key(url) else authorised_host,
    )


def _on_host(entries: Sequence[Entry], host: str, most: int, base: str) -> list[str]:
    """Return at most `most` canonical URLs on one host, those that changed last first."""
    if most <= 0:
        return []
    ordered = sorted(entries, key=lambda entry: -entry.changed_at)
    urls = (canonicalize(entry.address, base) for entry in ordered)
    own = dict.fromkeys(url for url in urls if url and host_key(url) == host)
    return list(own)[:most]
