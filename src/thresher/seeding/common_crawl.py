"""The URL index of Common Crawl as a source of seeds: captured URLs of hosts, those that contain words of the topic.

The index is asked by its CDX interface, as documented for pywb's CDXJ server: one JSON object per line. It is an index
of URLs, not of texts, so it needs hosts: those that the user names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from thresher.config.schema import CrawlConfig
from thresher.seeding.base import MAX_PER_SOURCE, SeedCandidate, SeedQuery, SourceFailed, by_url_terms
from thresher.seeding.service import ServiceClient
from thresher.urls.canonical import canonicalize

COLLECTIONS = "https://index.commoncrawl.org/collinfo.json"
"""The list of all indexes, newest first; used when the user names the source without an address."""
EXAMPLE = "https://index.commoncrawl.org/CC-MAIN-2026-04-index"
MAX_CAPTURES = 1_000
"""Captures that are requested of one host; a URL has several."""


class CommonCrawlIndex:
    """An index of captured URLs.

    Args:
        address: The CDX interface of one index, or the list of all indexes (``collinfo.json``), of which the newest is
            used; empty for the list of Common Crawl.
        config: The crawl, for its network, its delay and its contact address.
    """

    def __init__(self, address: str, config: CrawlConfig) -> None:
        self._config = config
        self._client = ServiceClient("the index", address or COLLECTIONS, config, example=EXAMPLE)

    def find(self, query: SeedQuery) -> list[SeedCandidate]:
        """Return the URLs that contain words of the topic, those with the most words first."""
        if not query.hosts:
            raise SourceFailed("the source common-crawl needs hosts: --host example.org")
        if not query.terms:
            return []
        index = self._newest() if self._client.endpoint.endswith(".json") else self._client
        urls = [url for host in query.hosts for url in self._captured(index, host, query)]
        return [
            SeedCandidate(url=url, source="common-crawl", reason="captured by Common Crawl")
            for url in by_url_terms(urls, query.terms, most=MAX_PER_SOURCE)
        ]

    def _newest(self) -> ServiceClient:
        """Return the newest index of the list."""
        collections = self._client.get_json()
        try:
            endpoint = str(collections[0]["cdx-api"])
        except (KeyError, IndexError, TypeError) as error:
            raise self._client.malformed("a list of indexes, each with a cdx-api") from error
        return ServiceClient("the index", endpoint, self._config, example=EXAMPLE)

    def _captured(self, index: ServiceClient, host: str, query: SeedQuery) -> Iterator[str]:
        words = "|".join(sorted(re.escape(term) for term in query.terms if term.isascii()))
        parameters = {
            "url": host.partition("://")[2] or host,
            "matchType": "host",
            "output": "json",
            "fl": "url",
            "limit": str(MAX_CAPTURES),
            "filter": f"~url:(?i).*({words}).*" if words else "=status:200",
        }
        response = index.get(parameters)
        if response.status == 404:  # documented: no capture
            return
        index.check(response)
        try:
            rows = [json.loads(line) for line in response.body.splitlines() if line.strip()]
            yield from filter(None, (canonicalize(str(row["url"])) for row in rows))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise index.malformed("one JSON object per line, each with a url") from error
