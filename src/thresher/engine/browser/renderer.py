"""Decide which fetched pages are rendered in a browser, and render them.

A host is rendered when the user lists it, or when its pages were detected to have no content without their scripts and
more with them. The result of detection is state in the frontier, for all workers and for the next run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from thresher.config.access import AccessTable
from thresher.config.browser import find_chromium
from thresher.config.schema import CrawlConfig
from thresher.engine.browser.chromium import BrowserGone, Chromium
from thresher.engine.browser.detection import has_more_content, is_challenge, needs_rendering
from thresher.engine.browser.page import PageBroke, PageRenderer, RenderLimits, RenderResult
from thresher.engine.browser.proxy import GuardedProxy, HostLocks
from thresher.engine.browser.quota import NetworkQuota
from thresher.engine.browser.script_cache import ScriptCache
from thresher.engine.dns.resolver import GuardedResolver
from thresher.engine.download.request import user_agent
from thresher.frontier.base import SharedState
from thresher.parsing.response import ResponseKind, classify_response
from thresher.politeness.robots import RobotsCache
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage, Lease
from thresher.urls.scope import UrlScope

logger = logging.getLogger(__name__)

STATE_KIND, YES, NO = "browser", "needed", "not needed"
NEEDED_SECONDS, NOT_NEEDED_SECONDS = 30 * 86_400.0, 86_400.0
"""TTL of the state that a host needs a browser, and of the state that a suspected host does not."""
ASK_SECONDS = 60.0
"""How long a worker caches that there is no such state."""
MIN_SECONDS = 2.0
DIED = Reason(ReasonKind.BROWSER)
_REMEMBERED = 10_000
_ORIGINAL_ONLY = frozenset({"content-length", "content-encoding", "content-type", "etag", "last-modified"})
MARK = ("X-Thresher-Rendered", "the document after its scripts had run")
"""A header line that we add: it marks the body in a WARC file as rendered."""


class Renderer:
    """Renders pages for one worker, a limited number at a time.

    Args:
        robots: Its cached rules also apply to what pages load; None to ignore robots.txt.
        resolver: The address guard; without one, pages load nothing.
        access: Hosts whose pages are rendered with cookies.
    """

    def __init__(
        self,
        config: CrawlConfig,
        frontier: SharedState,
        robots: RobotsCache | None,
        resolver: GuardedResolver | None = None,
        access: AccessTable | None = None,
    ) -> None:
        self._access = access or AccessTable()
        self._config = config.browser
        self._detects = config.browser.detect is not False
        self._frontier = frontier
        self._robots = robots
        self._resolver = resolver
        self._listed = UrlScope(allow_hosts=tuple(config.browser.hosts)) if config.browser.hosts else None
        self._limits = RenderLimits(
            user_agent=user_agent(config.politeness.contact),
            language=next(iter(config.title_languages), "en"),
            allowed=self._allowed,
            any_certificate=config.network.tls == "record",
            one_site=config.browser.load_from == "site",
            max_requests=config.browser.max_requests,
            max_page_bytes=config.engine.max_bytes,
        )
        self._host_locks, self._script_cache = HostLocks(), ScriptCache()
        self._proxy: GuardedProxy | None = None
        self._chromium: Chromium | None = None
        self._known: dict[str, tuple[bool | None, float]] = {}
        self._reserved: set[int] = set()

    @property
    def seconds(self) -> float:
        """How long rendering a page may take, besides its fetch."""
        return self._config.seconds

    async def may_begin(self, lease: Lease) -> bool:
        """Return whether a lease may be used now; one whose page must be rendered waits for a free slot."""
        return not await self._needs(lease.host) or self._reserve(lease)

    def free(self, lease: Lease) -> None:
        """Free the slot of a settled lease."""
        self._reserved.discard(lease.fence)

    async def render_if_needed(self, lease: Lease, page: FetchedPage, *, until: float) -> FetchedPage | Reason | None:
        """Return a page as a reader would see it; a reason why it cannot be; or None when there is no slot or time now.

        Args:
            until: Deadline by the monotonic clock.

        Raises:
            ConfigError: The browser cannot be started.
        """
        if not _is_markup(page) or not lease.kind.is_page:
            return page
        needs = await self._needs(lease.host)
        if not needs and not (needs is None and needs_rendering(page)):
            return page
        if is_challenge(page):  # the site wants no programs
            return page
        seconds = min(self.seconds, until - time.monotonic())
        if seconds < MIN_SECONDS or not self._reserve(lease):
            return None
        try:
            seen = await self._render(page, seconds)
        except BrowserGone as error:
            logger.warning("the browser died: %s: %s", page.url, error)
            return DIED
        return seen if needs else await self._learn(lease, page, seen)

    async def close(self) -> None:
        if self._chromium:
            await self._chromium.close()
        if self._proxy:
            self._proxy.close()

    def _reserve(self, lease: Lease) -> bool:
        if lease.fence not in self._reserved and len(self._reserved) >= self._config.pages_at_once:
            return False
        self._reserved.add(lease.fence)
        return True

    async def _needs(self, host: str) -> bool | None:
        """Return whether a host needs a browser; None when unknown."""
        if self._listed and not self._listed.allows(f"http://{host}/", 0):
            return True
        if not self._detects:
            return False
        needs, until = self._known.get(host, (None, 0.0))
        if needs is None and until <= time.monotonic():
            stored = await self._frontier.get_state(host, STATE_KIND)
            needs = None if stored is None else stored == YES
            self._keep(host, needs)
        return needs

    def _keep(self, host: str, needs: bool | None) -> None:
        self._known.pop(host, None)
        self._known[host] = needs, time.monotonic() + ASK_SECONDS
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    async def _learn(self, lease: Lease, page: FetchedPage, seen: FetchedPage) -> FetchedPage:
        """Store whether a suspected host needs a browser."""
        needs = seen.rendered and has_more_content(seen, page)
        seconds = NEEDED_SECONDS if needs else NOT_NEEDED_SECONDS
        await self._frontier.put_state(lease.host, STATE_KIND, YES if needs else NO, seconds=seconds)
        self._keep(lease.host, needs)
        logger.info("%s %s a browser", lease.host, "needs" if needs else "does not need")
        return seen if needs else page

    async def _render(self, page: FetchedPage, seconds: float) -> FetchedPage:
        begun = time.monotonic()
        chromium, proxy = await self._ready()
        browser = await chromium.enter()
        quota = NetworkQuota(max_connections=2 * self._config.max_requests + 10, max_bytes=self._config.max_bytes)
        proxy.admit(quota)
        access = self._access.find(page.url)
        renderer = PageRenderer(page, self._limits, quota, self._host_locks, self._script_cache, access)
        try:
            result = await renderer.render(browser, proxy.url, seconds=seconds)
        except PageBroke as error:  # use what the server sent
            logger.warning("cannot be rendered: %s: %s", page.url, error)
            return replace(page, truncated=True)
        except BrowserGone:
            await chromium.kill()
            raise
        finally:
            renderer.end()
            proxy.dismiss(quota)
            chromium.leave()
        seen = _with_result(page, result, time.monotonic() - begun)
        return access.redacted(seen) if access else seen

    async def _ready(self) -> tuple[Chromium, GuardedProxy]:
        if self._proxy is None:
            self._proxy = GuardedProxy(
                self._resolve_endpoints, upstream=self._resolver.proxy if self._resolver else None
            )
            await self._proxy.start()
        if self._chromium is None:
            executable = find_chromium(self._config)
            self._chromium = Chromium(executable, sandbox=self._config.sandbox, proxy_url=self._proxy.url)
        return self._chromium, self._proxy

    async def _resolve_endpoints(self, name: str, port: int) -> tuple[Sequence[tuple[str, int]], str]:
        return await self._resolver.resolve_endpoints(name, port) if self._resolver else ((), "no guard")

    async def _allowed(self, url: str) -> bool:
        rules = await self._robots.file_for(url) if self._robots else None
        return rules is None or rules.allows(url)


def _is_markup(page: FetchedPage) -> bool:
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    return classify_response(page).kind is ResponseKind.PAGE and kind in ("", "text/html", "application/xhtml+xml")


def _with_result(page: FetchedPage, result: RenderResult, seconds: float) -> FetchedPage:
    """Replace the body by the rendered document, without the validators of the original."""
    headers = {name: value for name, value in page.headers.items() if name not in _ORIGINAL_ONLY}
    lines = [(name, value) for name, value in page.header_lines if name.lower() not in _ORIGINAL_ONLY]
    kind = "text/html; charset=utf-8"
    return replace(
        page,
        headers={**headers, "content-type": kind},
        header_lines=[*lines, ("Content-Type", kind), MARK],
        body=result.body,
        elapsed_seconds=page.elapsed_seconds + seconds,
        truncated=page.truncated or result.cut,
        rendered=True,
    )
