"""Requests to services for programs: one at a time, with the delay of the crawl between two, and limits.

The address of a service is one that the user names, and may be private. Redirects are not followed. A robots.txt is
not read: this is an interface for programs, and no page is crawled.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from thresher.config.schema import CrawlConfig
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.downloader import Downloader
from thresher.engine.download.errors import FetchFailed
from thresher.engine.download.request import FetchRequest, usual_headers
from thresher.engine.download.slow_hosts import SlowHostLimiter
from thresher.errors import ConfigError
from thresher.records import FetchedPage, Lease
from thresher.seeding.base import SourceFailed
from thresher.urls.address_policy import private_network
from thresher.urls.canonical import canonicalize, host_key

MAX_BYTES = 4 << 20


class ServiceClient:
    """A polite client of one service.

    Args:
        name: What the service is called in messages, such as ``the search source``.
        endpoint: Its URL, without a query.
        example: An address of the right form, for the message about a wrong one.
        config: The crawl, for its network, its delay and its contact address.

    Raises:
        ConfigError: The endpoint is not an http or https URL without a query.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        config: CrawlConfig,
        *,
        example: str,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        url = canonicalize(endpoint)
        if url is None or urlsplit(url).query:
            raise ConfigError(
                f"{name} {endpoint!r} is not an http or https URL without a query; give its address, such as {example}"
            )
        self.name, self.endpoint, self._example = f"{name} {url}", url, example
        own = private_network(urlsplit(url).hostname or "")
        allow = [*config.network.allow, *([own] if own else [])]
        self._config = config.model_copy(update={"network": config.network.model_copy(update={"allow": allow})})
        self._max_bytes, self._clock, self._sleep = max_bytes, clock, sleep
        self._next = 0.0
        self.delay_seconds = config.politeness.delay_seconds

    def get(self, parameters: Mapping[str, str] | None = None) -> FetchedPage:
        """Send one GET request; return the response, whatever its status.

        Raises:
            SourceFailed: There is no response.
        """
        url = f"{self.endpoint}?{urlencode(parameters)}" if parameters else self.endpoint
        return self.fetch(url)

    def fetch(self, url: str) -> FetchedPage:
        """Send one GET request to a URL of the service; return the response, whatever its status.

        Raises:
            SourceFailed: There is no response.
        """
        self._sleep(max(0.0, self._next - self._clock()))
        try:
            return asyncio.run(self._get(url))
        except FetchFailed as error:
            raise SourceFailed(
                f"{self.name} does not answer: {error.reason}. Is it running, and is its address right?"
            ) from error
        finally:
            self._next = self._clock() + self.delay_seconds

    def get_json(self, parameters: Mapping[str, str] | None = None) -> Any:
        """Send one GET request; return the parsed JSON of a response with status 200.

        Raises:
            SourceFailed: There is no response, it has another status, or it is not JSON.
        """
        page = self.get(parameters)
        self.check(page)
        return self.parsed(page)

    def parsed(self, page: FetchedPage) -> Any:
        """Return the JSON of a response.

        Raises:
            SourceFailed: It is not JSON.
        """
        try:
            return json.loads(page.body)
        except (ValueError, RecursionError) as error:
            raise self.malformed("JSON") from error

    def check(self, page: FetchedPage, hints: Mapping[int, str] | None = None) -> None:
        """Check that a response has status 200.

        Raises:
            SourceFailed: It has another one; the message says what may help.
        """
        if page.status == 200:
            return
        hint = (hints or {}).get(page.status, "")
        if page.status == 429:
            wait = page.headers.get("retry-after", "")
            after = f" after {wait} seconds" if wait.isdigit() else " later"
            hint = f"too many requests; try again{after}, or with a longer politeness.delay_seconds"
        raise SourceFailed(f"{self.name} answered HTTP {page.status}{f'; {hint}' if hint else ''}")

    def malformed(self, expected: str) -> SourceFailed:
        """Return the error for a response that is not as documented."""
        return SourceFailed(
            f"{self.name} did not answer with {expected}; give the address of its interface, such as {self._example}"
        )

    def refused(self, why: str) -> SourceFailed:
        """Return the error for a request that the service refused in its own words."""
        return SourceFailed(f"{self.name} refused the request: {why[:200]}")

    async def _get(self, url: str) -> FetchedPage:
        config = self._config
        resolver, limiter = GuardedResolver.of(config.network), SlowHostLimiter(1)
        downloader = Downloader(
            resolver,
            limiter,
            headers=usual_headers(config),
            max_bytes=self._max_bytes,
            records_certificates=config.network.tls == "record",
        )
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
