"""The sitemaps of hosts that the user names as a source of seeds: URLs that contain words of the topic.

The robots.txt of a host is read first: it lists sitemaps, and its rules and its Crawl-delay apply to them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from thresher.config.schema import CrawlConfig
from thresher.errors import ConfigError
from thresher.politeness.robots import RobotsFile, is_unreachable
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage
from thresher.seeding.base import MAX_PER_SOURCE, SeedCandidate, SeedQuery, SourceFailed, by_url_terms
from thresher.seeding.service import ServiceClient
from thresher.sitemaps.parser import MAX_BYTES, read_sitemap
from thresher.sitemaps.source import listed_sitemaps
from thresher.urls.canonical import canonicalize, host_key

MAX_FILES = 10
"""Sitemaps that are read of one host."""


class HostSitemaps:
    """The sitemaps of hosts.

    Args:
        address: Empty: the hosts are those of the query.
        config: The crawl, for its network, its delay and its contact address.
    """

    def __init__(self, address: str, config: CrawlConfig) -> None:
        if address:
            raise ConfigError(f"the source sitemaps has no address; name hosts: --source sitemaps --host {address}")
        self._config = config

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Return the URLs that contain words of the topic, those with the most words first."""
        if not query.hosts:
            raise SourceFailed("the source sitemaps needs hosts: --host example.org")
        urls = [url for host in query.hosts for url in self._listed(host)]
        return [
            SeedCandidate(url=url, source="sitemaps", reason=f"in a sitemap of {host_key(url)}")
            for url in by_url_terms(urls, query.terms, most=MAX_PER_SOURCE)
        ]

    def _listed(self, host: str) -> Iterator[str]:
        """Yield the pages that the sitemaps of a host list, on this host."""
        root = (host if "://" in host else f"https://{host}").rstrip("/")
        client = ServiceClient(
            "the host", f"{root}/robots.txt", self._config, example="example.org", max_bytes=MAX_BYTES
        )
        robots = _rules(client.get())
        if robots.unreachable:
            raise SourceFailed(f"nothing was read from {root}: {robots.trouble}")
        client.delay_seconds = max(client.delay_seconds, robots.crawl_delay_seconds)
        waiting = listed_sitemaps(robots.text) or [f"{root}/sitemap.xml"]
        own = host_key(client.endpoint)
        for _ in range(MAX_FILES):
            if not waiting:
                return
            url = waiting.pop(0)
            if host_key(url) != own or not robots.allows(url):
                continue
            response = client.fetch(url)
            if response.status != 200:
                continue
            found = read_sitemap(response.body, now=time.time())
            waiting += filter(None, (canonicalize(entry.address, url) for entry in found.sitemaps))
            pages = filter(None, (canonicalize(entry.address, url) for entry in found.pages))
            yield from (page for page in pages if host_key(page) == own)


def _rules(response: FetchedPage) -> RobotsFile:
    """Return the rules of a host; after an error of the server they are unknown, and nothing may be fetched."""
    if is_unreachable(response.status):
        trouble = Reason.of(ReasonKind.OTHER, f"its robots.txt answers HTTP {response.status}")
        return RobotsFile(response.status, "", trouble=trouble)
    text = response.body.decode("utf-8", "replace") if 200 <= response.status < 300 else ""
    return RobotsFile(response.status, text)
