"""Search engines as a source of URLs: a small protocol, and a client for the JSON interface of SearXNG.

The endpoint is one that the user names, and its address may be private. Its answers are untrusted: they are URLs to be
fetched like any others, by the rules of the crawl. Between two queries there is the delay of the crawl. A robots.txt is
not read: this is an interface for programs, and no page is crawled.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlencode, urlsplit

from thresher.config.schema import CrawlConfig
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.errors import FetchFailed
from thresher.engine.download.request import FetchRequest, usual_headers
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.errors import ConfigError, ThresherError
from thresher.records import FetchedPage, Lease
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import canonicalize, host_key

MOST_BYTES = 4 << 20
MOST_RESULTS = 100


class SearchFailed(ThresherError):
    """A search engine did not answer a query."""


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """One result: a canonical URL, and the title that the engine gives."""

    url: str
    title: str = ""


class SearchSource(Protocol):
    """A search engine."""

    def search(self, query: str) -> Sequence[SearchResult]:
        """Return results, best first.

        Raises:
            SearchFailed: There is no answer.
        """
        ...


class SearxSearch:
    """The JSON interface of SearXNG: ``GET ENDPOINT?q=…&format=json``.

    Args:
        endpoint: Its URL, such as ``https://search.example.org/search``.
        config: The crawl, for its network, its delay and its contact address.
    """

    def __init__(
        self,
        endpoint: str,
        config: CrawlConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = canonicalize(endpoint)
        if url is None or urlsplit(url).query:
            raise ConfigError(
                f"the search source {endpoint!r} is not an http or https URL without a query; give the address of its "
                "search, such as https://search.example.org/search"
            )
        self._endpoint = url
        own = private_network(urlsplit(url).hostname or "")
        allow = [*config.network.allow, *([own] if own else [])]
        self._config = config.model_copy(update={"network": config.network.model_copy(update={"allow": allow})})
        self._clock, self._sleep = clock, sleep
        self._next = 0.0

    def search(self, query: str) -> list[SearchResult]:
        self._sleep(max(0.0, self._next - self._clock()))
        url = f"{self._endpoint}?{urlencode({'q': query, 'format': 'json'})}"
        try:
            page = asyncio.run(self._get(url))
        except FetchFailed as error:
            raise SearchFailed(
                f"the search source {self._endpoint} does not answer: {error.reason}. Is it running, and is its "
                "address right? What was collected so far is kept; the same command continues"
            ) from error
        finally:
            self._next = self._clock() + self._config.manners.delay_seconds
        return self._results(page)

    async def _get(self, url: str) -> FetchedPage:
        config = self._config
        resolver, limiter = GuardedResolver.of(config.network), SlowHostLimiter(1)
        downloader = Downloader(resolver, limiter, headers=usual_headers(config), max_bytes=MOST_BYTES)
        seconds = config.engine.timeout_seconds
        request = FetchRequest(
            url=url,
            lease=Lease(url=url, host=host_key(url), score=0.0, fence=0, until=0.0),
            timeout_seconds=seconds,
            start_by=time.monotonic() + seconds,
            headers={"Accept": "application/json"},
        )
        try:
            async with downloader.fetch(request) as page:
                return page
        finally:
            downloader.close()

    def _results(self, page: FetchedPage) -> list[SearchResult]:
        if page.status != 200:
            hint = "; SearXNG answers 403 unless its settings list json under search.formats"
            raise SearchFailed(
                f"the search source {self._endpoint} answered HTTP {page.status}{hint if page.status == 403 else ''}"
            )
        try:
            rows: Any = json.loads(page.body)["results"]
            found = [row for row in rows if isinstance(row, dict)]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise SearchFailed(
                f"the search source {self._endpoint} did not answer with the JSON of SearXNG, an object with results; "
                "give the address of its search, such as https://search.example.org/search"
            ) from error
        urls = ((canonicalize(str(row.get("url", ""))), str(row.get("title") or "")) for row in found[:MOST_RESULTS])
        return [SearchResult(url=url, title=title) for url, title in urls if url]
