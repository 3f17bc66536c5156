"""Feeds as a source of URLs: those that are seeds, and those that the first page of a host links to.

A feed is a URL of the frontier like any other: its host's delay, robots.txt and the address guard apply to it. Its
entries are scored by the strategy as links with the title as anchor and the summary as context, the newest first; those
of a feed that the user gave as a seed as links of a relevant page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from thresher.records import Candidate, FetchedPage, Judgement, Lease, Link, ParsedPage
from thresher.sitemaps.feeds import FeedEntry, read_feed
from thresher.sitemaps.source import MAX_REDIRECTS, SitemapHosts, score_listed
from thresher.strategies.base import Strategy
from thresher.urls.canonical import canonicalize, fingerprint, host_key

FEED = "feed"
"""Key in the carry of a feed."""
MAX_FEEDS_PER_HOST = 3


def is_feed(lease: Lease) -> bool:
    """Return whether a lease is for a feed that a page links to."""
    return FEED in lease.carry


class FeedSource:
    """Turns pages into feeds, and feeds into candidates; `wanted` is None when only seeds may be feeds."""

    def __init__(self, strategy: Strategy, wanted: SitemapHosts | None) -> None:
        self._strategy = strategy
        self._wanted = wanted

    def is_wanted(self, lease: Lease) -> bool:
        """Return whether a response that is a feed is read."""
        return lease.hops == 0 or (self._wanted is not None and lease.host in self._wanted)

    def of_page(self, lease: Lease, page: ParsedPage) -> list[Candidate]:
        """Return the feeds that the first page of a host links to, on the same host."""
        if self._wanted is None or lease.host_pages or lease.host not in self._wanted:
            return []
        own = [url for url in page.feeds if host_key(url) == lease.host]
        return [_feed(url, lease) for url in own[:MAX_FEEDS_PER_HOST]]

    def moved(self, lease: Lease, target: str) -> list[Candidate]:
        """Return the target of a feed's redirect, if it is on the same host."""
        if host_key(target) != lease.host or lease.redirects >= MAX_REDIRECTS:
            return []
        return [_feed(target, lease)._replace(redirects=lease.redirects + 1)]

    async def read(self, lease: Lease, fetched: FetchedPage) -> tuple[list[Candidate], str]:
        """Return the pages that a feed lists, and a summary."""
        content_type = fetched.headers.get("content-type", "")
        feed = await asyncio.to_thread(read_feed, fetched.body, content_type, now=fetched.fetched_at)
        links = _links(feed.entries, lease.url)
        is_seed = lease.hops == 0 and not is_feed(lease)
        judgement = Judgement(relevance=1.0, relevant=True) if is_seed else None
        words = f"feed: {len(links)} of {len(feed.entries)} entries"
        candidates = list(score_listed(self._strategy, links, lease, judgement))
        return candidates, f"{words}; {feed.flaw}" if feed.flaw else words


def _feed(url: str, lease: Lease) -> Candidate:
    return Candidate(url=url, score=lease.score, carry={FEED: 1}, hops=lease.hops, parent=fingerprint(lease.url))


def _links(entries: Sequence[FeedEntry], base: str) -> list[Link]:
    """Return the entries as links, the newest first; each URL once."""
    links: dict[str, Link] = {}
    for entry in sorted(entries, key=lambda entry: -entry.published_at):
        url = canonicalize(entry.address, base)
        if url and url not in links:
            links[url] = Link(url=url, anchor=entry.title, context=entry.summary, position=len(links))
    return list(links.values())
