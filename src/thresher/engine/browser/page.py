"""Render one page: give the browser what the engine fetched, run its scripts, and read the resulting document.

The page itself is never requested again, so its redirects, its status and its size are the same as without a browser.
Its scripts may load scripts and data, nothing else: no images, no frames, no second page. Each page has its own browser
context, which is discarded with its cookies. A page of a host with configured cookies has them in its context; its
requests for scripts and data get no other secret.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Page, Request, Route
from playwright.async_api import Error as PlaywrightError

from thresher.config.access import HostAccess
from thresher.engine.browser.chromium import BYPASS, BrowserGone
from thresher.engine.browser.proxy import HostLocks
from thresher.engine.browser.quota import USER, NetworkQuota
from thresher.engine.browser.script_cache import ScriptCache
from thresher.engine.dns.resolver import host_and_port
from thresher.parsing.markup import decode
from thresher.records import FetchedPage
from thresher.urls.canonical import canonicalize, host_key, registered_domain

logger = logging.getLogger(__name__)

QUIET_SECONDS = 0.5
"""Rendering is complete when the page has loaded nothing for this long."""
POLL_SECONDS = 0.05
READ_SECONDS = 3.0
"""Reserved for reading the document."""
CLOSE_SECONDS = 8.0
TURN_SECONDS = 3.0
"""How long a request keeps the lock of its host, and its page waiting."""
LOADED = frozenset({"script", "xhr", "fetch"})
METHODS = frozenset({"GET", "HEAD", "POST"})
_NOT_HANDED_ON = frozenset(
    {"content-encoding", "content-length", "content-type", "transfer-encoding", "link", "refresh", "connection"}
)
_READ = """((limit, origin) => {
  if (location.origin !== origin) return null;
  const scripts = "script:not([type='application/ld+json']), noscript";
  for (const each of document.querySelectorAll(scripts)) each.remove();
  const parts = [document.documentElement ? document.documentElement.outerHTML : ""];
  const roots = [document];
  while (roots.length) {
    for (const each of roots.pop().querySelectorAll("*")) {
      if (each.shadowRoot) { parts.push(`<div>${each.shadowRoot.innerHTML}</div>`); roots.push(each.shadowRoot); }
    }
  }
  return parts.join("\\n").slice(0, limit);
})(%d, %s)"""

Allowed = Callable[[str], Awaitable[bool]]


class PageBroke(Exception):
    """A page hung, crashed or cannot be read; the browser can still be used."""


@dataclass(frozen=True, kw_only=True)
class RenderLimits:
    """Limits of rendering.

    Args:
        allowed: Whether robots.txt allows a URL.
        any_certificate: Whether scripts and data are loaded from servers without a valid certificate.
        one_site: Whether scripts and data may only come from the page's own registered domain.
        max_requests: Requests per page.
        max_page_bytes: Size of the rendered document.
    """

    user_agent: str
    language: str
    allowed: Allowed
    any_certificate: bool = False
    one_site: bool = False
    max_requests: int = 100
    max_page_bytes: int = 10 << 20


@dataclass
class RenderResult:
    """The document of a rendered page.

    Args:
        cut: Whether it was not complete, or some of its requests were refused by a limit.
    """

    body: bytes
    cut: bool


@dataclass
class PageRenderer:
    """One page being rendered.

    Args:
        quota: Its share of the network.
        host_locks: Allow one request per host at a time.
        script_cache: Scripts of earlier pages.
        access: The cookies and the local storage of its host; None for most hosts.
    """

    page: FetchedPage
    limits: RenderLimits
    quota: NetworkQuota
    host_locks: HostLocks = field(default_factory=HostLocks)
    script_cache: ScriptCache = field(default_factory=ScriptCache)
    access: HostAccess | None = field(default=None, repr=False)
    sent_on: str = ""
    _requests: int = 0
    _tab: Page | None = None
    _given: bool = False
    _cut: bool = False
    _crashed: bool = False
    _open: dict[Request, asyncio.Event] = field(default_factory=dict)
    _loading: int = 0
    _changed: float = 0.0

    async def render(self, browser: Browser, proxy_url: str, *, seconds: float) -> RenderResult:
        """Render the page.

        Raises:
            PageBroke: It cannot be read.
            BrowserGone: The browser cannot be used any more.
        """
        end = _now() + seconds
        context: BrowserContext | None = None
        try:
            async with asyncio.timeout_at(end):
                context = await self._context(browser, proxy_url)
                tab = self._tab = await context.new_page()
            self._listen(context, tab)
            await self._settle(tab, end - READ_SECONDS)
            async with asyncio.timeout_at(max(end, _now() + READ_SECONDS)):
                return await self._read(context, tab)
        except (PlaywrightError, TimeoutError, PageBroke) as error:
            if context is None or not await _answers(browser):  # pages fail before the disconnect is reported
                raise BrowserGone(str(error)[:200]) from error
            raise PageBroke(str(error)[:200] or "it takes too long") from error
        finally:
            if context and browser.is_connected():
                await _close(context)

    async def _context(self, browser: Browser, proxy_url: str) -> BrowserContext:
        context = await browser.new_context(
            proxy={"server": proxy_url, "bypass": BYPASS, "username": USER, "password": self.quota.secret},
            user_agent=self.limits.user_agent,
            locale=self.limits.language,
            accept_downloads=False,
            service_workers="block",
            ignore_https_errors=self.limits.any_certificate and self.access is None,
            storage_state=self.access.browser_state() if self.access else None,  # type: ignore[arg-type]
        )
        context.set_default_timeout(0)
        await context.route("**/*", self._route)
        return context

    def _listen(self, context: BrowserContext, tab: Page) -> None:
        def ended(request: Request) -> None:
            if event := self._open.pop(request, None):
                event.set()

        def crashed(_: Page) -> None:
            self._crashed = True

        context.on("requestfinished", ended)
        context.on("requestfailed", ended)
        context.on("page", lambda other: _later(other.close()) if other != tab else None)
        tab.on("crash", crashed)

    async def _settle(self, tab: Page, end: float) -> None:
        """Let the scripts run until they load nothing more, or time is up."""
        loading = asyncio.ensure_future(tab.goto(self.page.url, wait_until="domcontentloaded", timeout=0))
        self._changed = _now()
        try:
            while _now() < end and not self._crashed and not tab.is_closed() and not self.sent_on:
                if loading.done() and not self._loading and _now() - self._changed >= QUIET_SECONDS:
                    return
                await asyncio.sleep(POLL_SECONDS)
            self._cut = not self.sent_on
        finally:
            loading.cancel()
            with suppress(PlaywrightError, asyncio.CancelledError):
                await loading

    async def _read(self, context: BrowserContext, tab: Page) -> RenderResult:
        """Read the document in an isolated world, where the page has replaced no function."""
        if self._crashed or tab.is_closed():
            raise PageBroke("it crashed")
        session = await context.new_cdp_session(tab)
        frame = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame})
        limit = self.limits.max_page_bytes
        command = {
            "expression": _READ % (limit + 1, json.dumps(_origin(self.page.url))),
            "contextId": world["executionContextId"],
            "returnByValue": True,
            "timeout": READ_SECONDS * 1000,
        }
        text = (await session.send("Runtime.evaluate", command))["result"].get("value")
        if not isinstance(text, str):
            raise PageBroke("its document is gone")
        moved = f'<meta http-equiv="refresh" content="0; url={escape(self.sent_on)}">' if self.sent_on else ""
        body = f"<!doctype html>{moved}{text}".encode("utf-8", "replace")
        cut = self._cut or self.quota.is_spent or len(body) > limit
        return RenderResult(body=body[:limit], cut=cut)

    async def _route(self, route: Route) -> None:
        """Decide about one request of the page."""
        with suppress(PlaywrightError):  # the page was closed meanwhile
            request = route.request
            if request.is_navigation_request():
                await self._navigate(route)
            elif request.resource_type == "stylesheet":  # some apps wait for their styles, and none needs them
                await route.fulfill(status=200, content_type="text/css", body="")
            elif request.resource_type in LOADED and await self._may_load(request):
                await self._load(route)
            else:
                await route.abort()

    async def _navigate(self, route: Route) -> None:
        """Return the fetched page, once; record where it navigates to; leave frames empty."""
        if not self._is_ours(route.request):
            await route.abort()
        elif not self._given:
            self._given = True
            text = decode(self.page.body, self.page.headers.get("content-type", ""))
            await route.fulfill(status=200, headers=_handed_on(self.page), body=text.encode("utf-8", "replace"))
        else:
            target = canonicalize(route.request.url)
            if target and target != self.page.url and not self.sent_on:
                self.sent_on = target
            await route.abort("aborted")

    def _is_ours(self, request: Request) -> bool:
        """Return whether the page itself navigates, not a frame in it or a window that it opened."""
        try:
            return self._tab is not None and request.frame == self._tab.main_frame
        except PlaywrightError:  # the frame of a window that is being opened
            return False

    async def _may_load(self, request: Request) -> bool:
        url = canonicalize(request.url)
        if not url or request.method not in METHODS:
            return False
        if self.access and self.access.names(urlsplit(url).hostname or "") and not self.access.covers(url):
            return False  # cookies do not distinguish ports
        if self.limits.one_site and _site(url) != _site(self.page.url):
            return False
        if self._requests >= self.limits.max_requests:
            self._cut = True
            return False
        self._requests += 1
        return await self.limits.allowed(url)

    async def _load(self, route: Route) -> None:
        """Let the page load a URL, from the script cache if it is there, otherwise under the lock of its host."""
        request, url = route.request, canonicalize(route.request.url) or ""
        shared = request.resource_type == "script" and request.method == "GET" and self.access is None
        self._loading += 1
        try:
            async with self.host_locks.at(host_key(url)):
                if shared and (script := self.script_cache.get(request.url)):
                    await route.fulfill(status=200, headers=dict(script.headers), body=script.body)
                    return
                event = self._open[request] = asyncio.Event()
                self.quota.expect(*host_and_port(url))
                await route.continue_()
                with suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), TURN_SECONDS)
                if shared and event.is_set():
                    await self._keep(request)
        finally:
            self._open.pop(request, None)
            self._loading -= 1
            self._changed = _now()

    async def _keep(self, request: Request) -> None:
        response = await request.response()
        if response and response.status == 200 and not request.redirected_from and not request.redirected_to:
            self.script_cache.put(request.url, await response.all_headers(), await response.body())

    def end(self) -> None:
        """Wake all tasks that wait for a response."""
        for event in self._open.values():
            event.set()


def _handed_on(page: FetchedPage) -> dict[str, str]:
    kept = {name: value for name, value in page.headers.items() if name not in _NOT_HANDED_ON}
    return {**kept, "content-type": "text/html; charset=utf-8", "referrer-policy": "no-referrer"}


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _site(url: str) -> str:
    return registered_domain(host_key(url))


def _later(closing: Awaitable[None]) -> None:
    async def close() -> None:
        with suppress(PlaywrightError):
            await closing

    _CLOSING.add(task := asyncio.ensure_future(close()))
    task.add_done_callback(_CLOSING.discard)


_CLOSING: set[asyncio.Task[None]] = set()


async def _answers(browser: Browser) -> bool:
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            session = await browser.new_browser_cdp_session()
            await session.send("Browser.getVersion")
            await session.detach()
            return True
    return False


async def _close(context: BrowserContext) -> None:
    with suppress(PlaywrightError):
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await context.close()
        except TimeoutError as error:
            raise BrowserGone("it does not close a page") from error


def _now() -> float:
    return asyncio.get_running_loop().time()
