"""The desk: every crawl that is looked at, each view of it, and what may be done to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from thresher.build import Crawl
from thresher.dashboard import control
from thresher.dashboard.errors import Refused, UnknownCrawl
from thresher.dashboard.views import frontier, harvest, hosts, page, pages, status, teach, workers
from thresher.dashboard.views.search import Searcher
from thresher.dashboard.watched import WatchedCrawl
from thresher.dashboard.words import JudgedWords
from thresher.errors import StoreUnreachable

VIEW_SECONDS = 1.0
SLOW_VIEW_SECONDS = 3.0
STALE_SECONDS = 3.0
"""A store that takes longer counts as one that does not answer."""


class Desk:
    """Looks at crawls. A view is asked for once a second at most, however many look at it.

    Args:
        crawls: The crawls, by their names here.
    """

    def __init__(self, crawls: Mapping[str, Crawl]) -> None:
        self._watched = {name: WatchedCrawl(crawl, name) for name, crawl in crawls.items()}
        self._words = {name: JudgedWords(watched.crawl) for name, watched in self._watched.items()}
        self._searchers = {name: Searcher(watched) for name, watched in self._watched.items()}

        self._last: dict[str, dict[str, Any]] = {}

    def names(self) -> list[str]:
        """Return the names of the crawls."""
        return list(self._watched)

    async def open(self) -> None:
        """Read what every first look would wait for; what cannot be read now is told to whoever looks."""
        await asyncio.gather(*(watched.pages() for watched in self._watched.values()), return_exceptions=True)

    async def close(self) -> None:
        """Let go of everything."""
        for name, watched in self._watched.items():
            await self._searchers[name].close()
            self._words[name].close()
            await watched.close()

    def forget(self, name: str) -> None:
        """Let the next look at a crawl ask anew, however young the last answer is."""
        self._of(name).fresh.clear()

    async def crawls(self) -> dict[str, Any]:
        """Return all crawls in numbers."""
        return {"crawls": list(await asyncio.gather(*map(self.status, self._watched)))}

    async def status(self, name: str) -> dict[str, Any]:
        """Return a crawl in numbers; while its store does not answer, the last ones.

        Raises:
            StoreUnreachable: It has not answered yet.
        """
        watched = self._of(name)
        try:
            async with asyncio.timeout(STALE_SECONDS):
                answer = await self._shared(watched, "status", lambda: status.status(watched))
        except (TimeoutError, StoreUnreachable):
            if name not in self._last:
                raise StoreUnreachable("the store does not answer") from None
            return {**self._last[name], "limit": {"code": "no_answer", "number": 0}}
        self._last[name] = answer
        return answer

    async def harvest(self, name: str, *, points: int = 200) -> dict[str, Any]:
        """Return the harvest curve."""
        watched = self._of(name)
        return await self._shared(watched, ("harvest", points), lambda: harvest.harvest(watched, points=points))

    async def pages(self, name: str, **asked: Any) -> dict[str, Any]:
        """Return pages; `asked` as of `views.pages.pages`."""
        watched = self._of(name)
        question = ("pages", *sorted(asked.items()))
        return await self._shared(watched, question, lambda: pages.pages(watched, **asked))

    async def page(self, name: str, *, url: str) -> dict[str, Any]:
        """Return all that is known of a URL."""
        return await page.page(self._of(name), self._words[name], url=url)

    async def frontier(self, name: str, *, limit: int = 50) -> dict[str, Any]:
        """Return what waits."""
        watched = self._of(name)
        ask = lambda: frontier.frontier(watched, limit=limit)  # noqa: E731
        return await self._shared(watched, ("frontier", limit), ask, seconds=SLOW_VIEW_SECONDS)

    async def hosts(self, name: str, *, limit: int = 100, parked: bool = False) -> dict[str, Any]:
        """Return hosts."""
        watched = self._of(name)
        question = ("hosts", limit, parked)
        return await self._shared(watched, question, lambda: hosts.hosts(watched, limit=limit, parked=parked))

    async def questions(self, name: str, *, limit: int = 10, boundary: bool = False) -> dict[str, Any]:
        """Return the pages whose answer teaches most, or those near the threshold."""
        watched = self._of(name)
        ask = lambda: teach.questions(watched, limit=limit, boundary=boundary)  # noqa: E731
        return await self._shared(watched, ("questions", limit, boundary), ask, seconds=SLOW_VIEW_SECONDS)

    async def labels(self, name: str) -> dict[str, Any]:
        """Return what people said of pages."""
        return await teach.labels(self._of(name))

    async def tell(self, name: str, told: Mapping[str, bool | None], *, boundary: bool = False) -> dict[str, Any]:
        """Label pages, None to remove a label; return what that changed, the threshold too when asked for."""
        return await teach.tell(self._of(name), told, boundary=boundary)

    async def search(self, name: str, *, q: str, limit: int = 20, language: str = "", host: str = "") -> dict[str, Any]:
        """Return the pages that answer a question."""
        self._of(name)
        return await self._searchers[name].search(q, limit=limit, language=language, host=host)

    async def workers(self, name: str) -> dict[str, Any]:
        """Return who works for a crawl."""
        watched = self._of(name)
        return await self._shared(watched, "workers", lambda: workers.workers(watched))

    async def control(self, name: str, do: str, **asked: Any) -> dict[str, Any]:
        """Start, pause, resume or stop a crawl; return how it stands then."""
        watched = self._of(name)
        before = await status.status(watched)
        if do not in before["can"]:
            raise Refused(409, f"the crawl is {before['state']}; it cannot be told to {do}")
        if do == "start":
            await control.start(watched, **asked)
        elif do == "stop":
            await control.stop(watched)
        else:
            await control.pause(watched, paused=do == "pause")
        return await self._anew(watched)

    async def set_budgets(self, name: str, limits: Mapping[str, Any]) -> dict[str, Any]:
        """Say when the run ends; return how it stands then."""
        watched = self._of(name)
        if "budgets" not in (await status.status(watched))["can"]:
            raise Refused(409, "no run is under way; say when it ends when you start one")
        await control.set_budgets(watched, limits)
        return await self._anew(watched)

    async def release(self, name: str, host: str) -> dict[str, Any]:
        """Let a host be asked again; return how the crawl stands then."""
        watched = self._of(name)
        await control.release(watched, host.lower())
        return await self._anew(watched)

    async def block(self, name: str, host: str, reason: str = "") -> dict[str, Any]:
        """Ask a host no more; return how the crawl stands then."""
        watched = self._of(name)
        await control.block(watched, host.lower(), reason)
        return await self._anew(watched)

    async def _anew(self, watched: WatchedCrawl) -> dict[str, Any]:
        watched.fresh.clear()
        return await self.status(watched.name)

    def _of(self, name: str) -> WatchedCrawl:
        if name not in self._watched:
            raise UnknownCrawl(name)
        return self._watched[name]

    async def _shared(
        self, watched: WatchedCrawl, question: Any, ask: Callable[[], Awaitable[Any]], *, seconds: float = VIEW_SECONDS
    ) -> dict[str, Any]:
        answer: dict[str, Any] = await watched.fresh.get(question, ask, seconds=seconds)
        return answer


def by_name(crawls: Sequence[Crawl]) -> dict[str, Crawl]:
    """Name crawls; several of one name get numbers."""
    named: dict[str, Crawl] = {}
    for crawl in crawls:
        name, number = crawl.name.replace("/", "-"), 1
        while name in named or name in RESERVED:
            number += 1
            name = f"{crawl.name.replace('/', '-')}-{number}"
        named[name] = crawl
    return named


RESERVED = frozenset({"api", "static", "language", "login", "favicon.ico", ".", ".."})
"""Names that addresses of the dashboard itself begin with."""
