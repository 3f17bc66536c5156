"""Which fetched pages go through a browser, and what comes out of it.

A host is rendered when the user lists it, or when it was noticed that its pages say nothing without their scripts and
more with them. What was noticed is a note in the frontier: all workers know it, and the next run does.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

from thresher.chromium import find_chromium
from thresher.config import CrawlConfig
from thresher.engine.browser.chromium import BrowserGone, Chromium
from thresher.engine.browser.gates import Gates
from thresher.engine.browser.passes import Pass
from thresher.engine.browser.proxy import GuardedProxy
from thresher.engine.browser.shelf import Shelf
from thresher.engine.browser.signs import needs_scripts, says_more
from thresher.engine.browser.visit import Made, PageBroke, Terms, Visit
from thresher.engine.resolver import GuardedResolver
from thresher.engine.robots import RobotsKeeper
from thresher.engine.settings import user_agent
from thresher.frontier.base import Frontier
from thresher.parse.answers import AnswerKind, read_answer
from thresher.records import FetchedPage, Lease
from thresher.urls.scope import Scope
from thresher.warden import is_aside

logger = logging.getLogger(__name__)

NOTE, YES, NO = "browser", "needed", "not needed"
NEEDED_SECONDS, NOT_NEEDED_SECONDS = 30 * 86_400.0, 86_400.0
"""How long it is believed that a host needs a browser, and that one that looked so does not."""
ASK_SECONDS = 60.0
"""How long a worker goes on with what it knew when it last read the note."""
LEAST_SECONDS = 2.0
DIED = "the browser died"
_REMEMBERED = 10_000
_OF_THE_RAW_PAGE = frozenset({"content-length", "content-encoding", "content-type", "etag", "last-modified"})
MARK = ("X-Thresher-Rendered", "the document after its scripts had run")
"""A header line that is not the server's: it tells readers of an archive what its body is."""


class Rendering:
    """Renders pages for one worker, so many at a time.

    Args:
        robots: Whose rules hold for what pages load, too, where they are known; None when nobody's do.
    """

    def __init__(self, config: CrawlConfig, frontier: Frontier, robots: RobotsKeeper | None) -> None:
        self._config = config.browser
        self._frontier = frontier
        self._robots = robots
        self._listed = Scope(allow_hosts=tuple(config.browser.hosts)) if config.browser.hosts else None
        self._terms = Terms(
            user_agent=user_agent(config.manners.contact),
            language=config.languages[0] if config.languages else "en",
            allowed=self._allowed,
            one_site=config.browser.load_from == "site",
            max_requests=config.browser.max_requests,
            max_page_bytes=config.engine.max_bytes,
        )
        self._gates, self._shelf = Gates(), Shelf()
        self._proxy: GuardedProxy | None = None
        self._chromium: Chromium | None = None
        self._known: dict[str, tuple[bool | None, float]] = {}
        self._reserved: set[int] = set()

    @property
    def seconds(self) -> float:
        """How long a page may take, beside its fetch."""
        return self._config.seconds

    async def may_begin(self, lease: Lease) -> bool:
        """Tell whether a lease may be used now; one whose page must be rendered waits for a place."""
        return not await self._needs(lease.host) or self._reserve(lease)

    def free(self, lease: Lease) -> None:
        """Say that a lease is settled."""
        self._reserved.discard(lease.fence)

    async def see(self, lease: Lease, page: FetchedPage, *, until: float) -> FetchedPage | str | None:
        """Return a page as a reader would see it; why it cannot be; or None when there is no place or no time now.

        Args:
            until: When it must be over, by the monotonic clock.

        Raises:
            ConfigError: The browser cannot be started.
        """
        if not _is_markup(page) or is_aside(lease):
            return page
        needs = await self._needs(lease.host)
        if not needs and not (needs is None and self._config.detect and needs_scripts(page)):
            return page
        seconds = min(self.seconds, until - time.monotonic())
        if seconds < LEAST_SECONDS or not self._reserve(lease):
            return None
        try:
            seen = await self._render(page, seconds)
        except BrowserGone as error:
            logger.warning("the browser died: %s: %s", page.url, error)
            return DIED
        return seen if needs else await self._learn(lease, page, seen)

    async def close(self) -> None:
        """End the browser."""
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
        """Tell whether a host needs a browser; None when nobody knows."""
        if self._listed and not self._listed.allows(f"http://{host}/", 0):
            return True
        if not self._config.detect:
            return False
        needs, until = self._known.get(host, (None, 0.0))
        if needs is None and until <= time.monotonic():
            note = await self._frontier.recall(host, NOTE)
            needs = None if note is None else note == YES
            self._keep(host, needs)
        return needs

    def _keep(self, host: str, needs: bool | None) -> None:
        self._known.pop(host, None)
        self._known[host] = needs, time.monotonic() + ASK_SECONDS
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]

    async def _learn(self, lease: Lease, page: FetchedPage, seen: FetchedPage) -> FetchedPage:
        """Note whether a host that looked so needs a browser."""
        needs = seen.rendered and says_more(seen, page)
        seconds = NEEDED_SECONDS if needs else NOT_NEEDED_SECONDS
        await self._frontier.remember(lease.host, NOTE, YES if needs else NO, seconds=seconds)
        self._keep(lease.host, needs)
        logger.info("%s %s a browser", lease.host, "needs" if needs else "does not need")
        return seen if needs else page

    async def _render(self, page: FetchedPage, seconds: float) -> FetchedPage:
        begun = time.monotonic()
        chromium, proxy = await self._ready()
        browser = await chromium.enter()
        one = Pass(max_connections=2 * self._config.max_requests + 10, max_bytes=self._config.max_bytes)
        proxy.admit(one)
        visit = Visit(page, self._terms, one, self._gates, self._shelf)
        try:
            made = await visit.make(browser, proxy.url, seconds=seconds)
        except PageBroke as error:  # what the server sent is still there
            logger.warning("cannot be rendered: %s: %s", page.url, error)
            return replace(page, truncated=True)
        except BrowserGone:
            await chromium.kill()
            raise
        finally:
            visit.end()
            proxy.dismiss(one)
            chromium.leave()
        return _rendered(page, made, time.monotonic() - begun)

    async def _ready(self) -> tuple[Chromium, GuardedProxy]:
        if self._proxy is None:
            self._proxy = GuardedProxy(guarded_places)
            await self._proxy.start()
        if self._chromium is None:
            executable = find_chromium(self._config)
            self._chromium = Chromium(executable, sandbox=self._config.sandbox, proxy_url=self._proxy.url)
        return self._chromium, self._proxy

    async def _allowed(self, url: str) -> bool:
        rules = await self._robots.file_for(url) if self._robots else None
        return rules is None or rules.allows(url)


async def guarded_places(name: str, port: int) -> tuple[Sequence[tuple[str, int]], str]:
    """Ask the address guard of this process; where there is none, nothing is dialled."""
    from twisted.internet import reactor

    resolver = getattr(reactor, "nameResolver", None)
    return await resolver.places(name, port) if isinstance(resolver, GuardedResolver) else ((), "no guard")


def _is_markup(page: FetchedPage) -> bool:
    kind = page.headers.get("content-type", "").partition(";")[0].strip().lower()
    return read_answer(page).kind is AnswerKind.PAGE and kind in ("", "text/html", "application/xhtml+xml")


def _rendered(page: FetchedPage, made: Made, seconds: float) -> FetchedPage:
    """Put what scripts made in the place of what came; it cannot be asked for news by the old page's marks."""
    headers = {name: value for name, value in page.headers.items() if name not in _OF_THE_RAW_PAGE}
    lines = [(name, value) for name, value in page.header_lines if name.lower() not in _OF_THE_RAW_PAGE]
    kind = "text/html; charset=utf-8"
    return replace(
        page,
        headers={**headers, "content-type": kind},
        header_lines=[*lines, ("Content-Type", kind), MARK],
        body=made.body,
        elapsed_seconds=page.elapsed_seconds + seconds,
        truncated=page.truncated or made.cut,
        rendered=True,
    )
