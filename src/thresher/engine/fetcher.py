"""The fetcher of a worker: fetches what the lease loop leases, and passes responses to the pipeline.

`CookieChain` has the cookies of one lease: sites that set a cookie and send the reader back to the page that was
requested.

Such a redirect is followed within its lease, since its target is the leased URL itself, which the frontier gives out
once. All other redirects are frontier entries of their own, and are requested without cookies. The jar lives as long
as the lease, in memory; what is kept of a request has `REDACTED` in its place.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from thresher.config.secrets import Secret
from thresher.engine.download.errors import FetchFailed, LeaseExpired, WorkerStopped
from thresher.engine.download.request import FetchRequest
from thresher.engine.lease_loop import BROWSER_WAIT_SECONDS, LeaseLoop, StoreFailed, WorkerContext
from thresher.parsing.response import redirect_target
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage, Lease
from thresher.storage.page_store import PageRecord
from thresher.urls.canonical import fingerprint

if TYPE_CHECKING:
    from thresher.engine.browser.renderer import Renderer


MAX_HOPS = 10
"""Requests of one lease after its first one."""
MAX_COOKIES = 20
MAX_COOKIE_BYTES = 4096

_IS_REMOVED = re.compile(r"max-age\s*=\s*(?:0|-)|expires\s*=[^;]*\b1970\b", re.IGNORECASE).search


class CookieChain:
    """The requests of one lease, and the cookies that their responses set.

    The jar is for one origin: scheme, host and port. So Domain, Path and Secure, which extend or restrict where a
    cookie is sent, are ignored.
    """

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._first: FetchedPage | None = None
        self._jar: dict[str, str] = {}
        self._hops = 0

    def next_target(self, page: FetchedPage) -> str:
        """Add the cookies of a response; return where it leads within this lease, or an empty string."""
        self._first = self._first or replace(page, body=b"")
        target = redirect_target(page)
        if not target or _origin(target) != _origin(self._lease.url):
            return ""
        has_new = self._take_cookies(page)
        if not self._jar or self._hops >= MAX_HOPS or not (self._hops or self._leads_back(target)):
            return ""
        if target == page.url and not has_new:
            return ""
        self._hops += 1
        return target

    def cookies(self) -> Secret:
        """Return the Cookie header of the next request."""
        return Secret("; ".join(f"{name}={value}" for name, value in self._jar.items()))

    def result(self, page: FetchedPage) -> FetchedPage:
        """Return the last response as that of the lease.

        A page at another URL of the host is requested in its turn, as after any redirect, unless it is the page that
        redirected here, or the leased one with more in its query.
        """
        if not self._hops or page.url == self._lease.url or self._is_parent(page.url):
            return page
        if target := redirect_target(page):
            return _redirect_to(target, replace(page, url=self._lease.url))
        if self._is_extended(page.url):
            return replace(page, url=self._lease.url)
        return _redirect_to(page.url, self._first or page)

    def _leads_back(self, target: str) -> bool:
        """Return whether a target is the leased URL, the one that redirected to it, or names its path in its query."""
        path = urlsplit(self._lease.url).path
        names_path = len(path) > 1 and path in unquote(urlsplit(target).query)
        return self._is_parent(target) or self._is_extended(target) or names_path

    def _is_extended(self, url: str) -> bool:
        """Return whether a URL is the leased one, perhaps with more in its query; less would be another page."""
        wanted, found = urlsplit(self._lease.url), urlsplit(url)
        is_more = set(wanted.query.split("&")) - {""} <= set(found.query.split("&"))
        return is_more and _without_query(url) == _without_query(self._lease.url)

    def _is_parent(self, url: str) -> bool:
        return self._lease.redirects > 0 and fingerprint(url) == self._lease.parent

    def _take_cookies(self, page: FetchedPage) -> bool:
        before = dict(self._jar)
        for name, line in page.header_lines:
            if name.lower() == "set-cookie":
                self._set(line)
        return self._jar != before

    def _set(self, line: str) -> None:
        pair, _, attributes = line.partition(";")
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and name and pair.isascii() and pair.isprintable()) or len(pair) > MAX_COOKIE_BYTES:
            return
        if _IS_REMOVED(attributes):
            self._jar.pop(name, None)
        elif name in self._jar or len(self._jar) < MAX_COOKIES:
            self._jar[name] = value


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _without_query(url: str) -> str:
    return url.partition("?")[0]


def _redirect_to(target: str, page: FetchedPage) -> FetchedPage:
    """Return a redirect with another target; its header lines, which are archived, stay as they were."""
    return replace(page, headers={**page.headers, "location": target})


logger = logging.getLogger(__name__)

Fetch = Callable[[FetchRequest], AbstractAsyncContextManager[FetchedPage]]
"""Gives the page of a request for the duration of a block; raises `FetchFailed`."""


class Fetcher:
    """Fetches and settles leases until nothing more can come.

    Attributes:
        pages: How many pages were stored.
        is_draining: Whether no more leases are taken.
    """

    def __init__(self, context: WorkerContext, loop: LeaseLoop, fetch: Fetch) -> None:
        self.pages = 0
        self.loop = loop
        self.is_draining = False
        self._context = context
        self._fetch = fetch
        self._leasing: asyncio.Task[None] | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Fetch until nothing more can come, or until all fetches that were open at `drain` are settled.

        When this is cancelled, open fetches are aborted; their leases stay open.
        """
        self._leasing = asyncio.create_task(self._start_fetches())
        try:
            while tasks := [task for task in (self._leasing, *self._open) if not task.done()]:
                await asyncio.wait(tasks)
        finally:
            tasks = [self._leasing, *self._open]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def drain(self) -> None:
        """Take no more leases; open fetches go on."""
        self.is_draining = True
        if self._leasing:
            self._leasing.cancel()

    async def _start_fetches(self) -> None:
        async for request in self.loop.requests():
            task = asyncio.create_task(self.fetch(request))
            self._open.add(task)
            task.add_done_callback(self._open.discard)

    async def fetch(self, request: FetchRequest) -> None:
        """Fetch a request and settle its lease; when the store fails, the worker drains."""
        try:
            try:
                await self._fetch_chain(request)
            except StoreFailed:
                raise
            except FetchFailed as failure:
                await self._take_failure(request, failure)
            except Exception as error:
                logger.exception("cannot fetch: %s", request.url)
                await self._take_failure(request, FetchFailed(ReasonKind.EXCEPTION, type(error).__name__))
        except StoreFailed:
            self.drain()

    async def _fetch_chain(self, request: FetchRequest) -> None:
        """Fetch a request, and within its lease the redirects that need the cookies of the one before."""
        chain = CookieChain(request.lease)
        following: FetchRequest | None = request
        while following:
            async with self._fetch(following) as page:
                if request.is_robots:
                    await self.loop.take_robots(request, page)
                    return
                following = await self._following(request, chain, page)
                if following is None:
                    await self.take_page(request.lease, chain.result(page))
            if following:
                await asyncio.sleep(await self.loop.delay_seconds(following.url))

    async def _following(self, request: FetchRequest, chain: CookieChain, page: FetchedPage) -> FetchRequest | None:
        """Return the next request of a chain, or None when it has ended.

        Raises:
            FetchFailed: The lease would end before.
        """
        lease = request.lease
        if not lease.kind.is_page or not (target := chain.next_target(page)):
            return None
        if not await self.loop.allows(lease, target):
            return None
        if time.monotonic() + await self.loop.delay_seconds(target) > request.start_by:
            raise FetchFailed(ReasonKind.SLOW_REDIRECTS, retry=False)
        headers = request.headers if target == lease.url else {}
        return replace(request, url=target, headers=headers, cookies=chain.cookies())

    async def take_page(self, lease: Lease, page: FetchedPage) -> None:
        """Process a response, rendered first if the crawl uses a browser."""
        browser = self._context.browser
        settling = self._render(browser, lease, page) if browser else self._process(lease, page)
        record = await self.loop.settle(lease, settling)
        self.pages += bool(record and record.page)
        if self._context.script_notice and record and record.page:
            await self._context.script_notice.check(lease, page)

    async def _process(self, lease: Lease, page: FetchedPage) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        if signals := await self.loop.host_signals(lease):
            page = replace(page, host_signals=signals)
        return await self._context.processor.process(lease, page, delay_seconds=delay_seconds)

    async def _render(self, browser: Renderer, lease: Lease, page: FetchedPage) -> PageRecord | None:
        """Process a page as a reader would see it; one that cannot be rendered now is released."""
        rendered = await browser.render_if_needed(lease, page, until=self.loop.end_of(lease))
        if isinstance(rendered, FetchedPage):
            return await self._process(lease, rendered)
        if rendered:
            return await self._fail(lease, rendered, retry=True)
        delay_seconds = max(await self.loop.delay_seconds(lease.url), BROWSER_WAIT_SECONDS)
        await self._context.processor.frontier.release([lease], delay_seconds=delay_seconds)
        return None

    async def _take_failure(self, request: FetchRequest, failure: FetchFailed) -> None:
        """Settle a lease for which no response came."""
        lease = request.lease
        if request.is_robots:
            await self.loop.take_robots(request, failure)
        elif isinstance(failure, LeaseExpired):  # no request was sent
            await self.loop.settle(lease, self._context.processor.frontier.release([lease]))
        elif isinstance(failure, WorkerStopped):
            delay_seconds = await self.loop.delay_seconds(lease.url)
            release = self._context.processor.frontier.release
            await self.loop.settle(lease, release([lease], delay_seconds=delay_seconds))
        else:
            await self.loop.settle(lease, self._fail(lease, failure.reason, retry=failure.retry))

    async def _fail(self, lease: Lease, reason: Reason, *, retry: bool) -> PageRecord | None:
        delay_seconds = await self.loop.delay_seconds(lease.url)
        fail = self._context.processor.fail
        return await fail(lease, reason, at=time.time(), retry=retry, delay_seconds=delay_seconds)
