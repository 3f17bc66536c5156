"""The crawls that a dashboard serves: looked up by name, with cached views and the last known status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from thresher.crawl import CrawlSetup
from thresher.errors import StoreUnreachable
from thresher.locale.translation import _
from thresher.status import SpeedLimit
from thresher_ui.dashboard.errors import CrawlNotServed
from thresher_ui.dashboard.open_crawl import OpenCrawl
from thresher_ui.dashboard.views import frontier, harvest, hosts, label, pages, status, workers

View = Callable[..., Awaitable[dict[str, Any]]]
"""Takes an open crawl and keyword arguments, and returns what the REST API returns."""
STATUS_SECONDS = 1.0
CACHE_SECONDS: dict[View, float] = {
    harvest.harvest: 1.0,
    pages.pages: 1.0,
    hosts.hosts: 1.0,
    workers.workers: 1.0,
    frontier.frontier: 3.0,
    label.questions: 3.0,
}
"""TTL of cached views; the other views are computed for every request."""
STORE_TIMEOUT_SECONDS = 3.0


class CrawlService:
    """The open crawls of a dashboard.

    Args:
        crawls: The crawls, by their names in the dashboard.
    """

    def __init__(self, crawls: Mapping[str, CrawlSetup]) -> None:
        self._open_crawls = {name: OpenCrawl(crawl, name) for name, crawl in crawls.items()}
        self._last_status: dict[str, dict[str, Any]] = {}

    def names(self) -> list[str]:
        return list(self._open_crawls)

    async def open(self) -> None:
        """Read the page indexes, so that the first request is fast; errors are reported by later requests."""
        await asyncio.gather(*(crawl.pages() for crawl in self._open_crawls.values()), return_exceptions=True)

    async def close(self) -> None:
        for open_crawl in self._open_crawls.values():
            await open_crawl.close()

    def crawl(self, name: str) -> OpenCrawl:
        """Return a crawl by name.

        Raises:
            CrawlNotServed: There is none of that name.
        """
        if name not in self._open_crawls:
            raise CrawlNotServed(name)
        return self._open_crawls[name]

    def forget(self, name: str) -> None:
        """Clear the cached views of a crawl."""
        self.crawl(name).cache.clear()

    async def crawls(self) -> dict[str, Any]:
        """Return the status of all crawls."""
        return {"crawls": list(await asyncio.gather(*map(self.status, self._open_crawls)))}

    async def status(self, name: str) -> dict[str, Any]:
        """Return the status of a crawl; the last known one while its store does not answer.

        Raises:
            StoreUnreachable: The store has not answered yet.
        """
        open_crawl = self.crawl(name)
        try:
            async with asyncio.timeout(STORE_TIMEOUT_SECONDS):
                newest: dict[str, Any] = await open_crawl.cache.get(
                    "status", lambda: status.status(open_crawl), seconds=STATUS_SECONDS
                )
        except (TimeoutError, StoreUnreachable):
            if name not in self._last_status:
                raise StoreUnreachable(_("the store does not answer")) from None
            return {**self._last_status[name], "limit": {"code": SpeedLimit.NO_ANSWER, "number": 0}}
        self._last_status[name] = newest
        return newest

    async def view(self, name: str, view: View, /, **arguments: Any) -> dict[str, Any]:
        """Return a view of a crawl, cached where `CACHE_SECONDS` lists it."""
        open_crawl = self.crawl(name)
        if view not in CACHE_SECONDS:
            return await view(open_crawl, **arguments)
        defaults: dict[str, Any] = getattr(view, "__kwdefaults__", None) or {}
        key = (view, *sorted({**defaults, **arguments}.items()))
        cached: dict[str, Any] = await open_crawl.cache.get(
            key, lambda: view(open_crawl, **arguments), seconds=CACHE_SECONDS[view]
        )
        return cached

    async def change(self, name: str, change: Callable[..., Awaitable[None]], /, **arguments: Any) -> dict[str, Any]:
        """Apply a function of `dashboard.control` to a crawl; return the status afterwards."""
        await change(self.crawl(name), **arguments)
        self.forget(name)
        return await self.status(name)


def by_name(crawls: Sequence[CrawlSetup]) -> dict[str, CrawlSetup]:
    """Return crawls by name; a name that is used twice or reserved gets a number."""
    named: dict[str, CrawlSetup] = {}
    for crawl in crawls:
        name, number = crawl.name.replace("/", "-"), 1
        while name in named or name in RESERVED:
            number += 1
            name = f"{crawl.name.replace('/', '-')}-{number}"
        named[name] = crawl
    return named


RESERVED = frozenset({"api", "static", "language", "login", "favicon.ico", ".", ".."})
"""First path segments of the dashboard itself."""
