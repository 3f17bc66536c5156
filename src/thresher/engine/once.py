"""Some URLs fetched once, and nothing kept: the spider and the manners of a crawl, with a queue in memory.

The spider hands what comes back to `Catch`, which stands where a crawl has its line. It lets nothing into the queue
but the targets of redirects, so robots.txt, scope, the address guard and the delay hold for every hop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import cast

from thresher.build import Crawl
from thresher.engine.progress import Ending
from thresher.engine.robots import RobotsKeeper
from thresher.engine.settings import ROBOTS_TOKEN
from thresher.engine.spider import Work
from thresher.engine.worker import run_worker
from thresher.errors import ThresherError
from thresher.frontier.base import UrlState
from thresher.frontier.memory import MemoryFrontier
from thresher.line import MAX_REDIRECTS, Line, Rules
from thresher.parse.answers import Answer, AnswerKind, read_answer
from thresher.records import Candidate, FetchedPage, Lease, Outcome, Settlement
from thresher.urls.host import host_key
from thresher.urls.traps import trap

_PLAINLY = {"robots.txt": "robots.txt forbids it"}


class Interrupted(ThresherError):
    """Somebody pressed Ctrl-C before all answers were there."""

    exit_code = Ending.STOPPED.exit_code

    def __init__(self) -> None:
        super().__init__("stopped; nothing was stored")


class Catch:
    """Takes answers from the spider in the place of the line, and remembers what became of each URL."""

    def __init__(self, rules: Rules, *, delay_seconds: float = 0.0) -> None:
        self.frontier = MemoryFrontier(delay_seconds=delay_seconds)
        self._rules = rules
        self._pages: dict[str, FetchedPage] = {}
        self._reasons: dict[str, str] = {}
        self._moved: dict[str, str] = {}

    async def ask(self, urls: Sequence[str]) -> None:
        """Put canonical URLs into the queue, those outside the crawl excepted."""
        self._reasons.update({url: f"outside the crawl: {why}" for url in urls if (why := self._outside(url))})
        await self.frontier.add([Candidate(url=url, score=0.0) for url in urls if url not in self._reasons])

    async def process(self, lease: Lease, fetched: FetchedPage, *, delay_seconds: float = 0.0) -> None:
        """Take an answer: a page, a redirect to follow, or a reason."""
        answer = read_answer(fetched)
        links: list[Candidate] = []
        if answer.kind is AnswerKind.PAGE:
            self._pages[lease.url] = fetched
        elif answer.kind is AnswerKind.REDIRECT:
            links = self._redirect(lease, answer)
        else:
            self._reasons[lease.url] = answer.reason
        await self._settle(lease, links, delay_seconds)

    async def fail(
        self, lease: Lease, reason: str, *, at: float, retry: bool = False, delay_seconds: float = 0.0
    ) -> None:
        """Take a reason why there is no answer; whoever tries a page wants to know now, so there is no second try."""
        self._reasons[lease.url] = _PLAINLY.get(reason, reason)
        await self._settle(lease, [], delay_seconds)

    async def close(self) -> None:
        """Let go of the queue."""
        await self.frontier.close()

    async def answer(self, url: str) -> FetchedPage | str:
        """Say what a URL led to in the end: a page, or the reason why there is none.

        Raises:
            Interrupted: Nobody knows, because the spider was stopped before.
        """
        seen = [url]
        while target := self._moved.get(seen[-1]):
            if target in seen:
                return "redirects in a circle"
            seen.append(target)
        last = seen[-1]
        if page := self._pages.get(last):
            return page
        reason = self._reasons.get(last) or await self._unanswered(last)
        return reason if last == url else f"redirected to {last}: {reason}"

    async def _unanswered(self, url: str) -> str:
        """Say why a URL was never settled: its host is left alone, or every lease ran out."""
        entry = await self.frontier.find(url)
        if entry and entry.state is UrlState.FAILED:
            return entry.reason
        hosts = await self.frontier.hosts((await self.frontier.counts()).hosts)
        parked = {host.host: host.parked for host in hosts}
        if reason := parked.get(host_key(url)):
            return reason
        raise Interrupted

    def _redirect(self, lease: Lease, answer: Answer) -> list[Candidate]:
        if lease.redirects >= MAX_REDIRECTS:
            self._reasons[lease.url] = f"more than {MAX_REDIRECTS} redirects"
        elif why := self._outside(answer.target):
            self._reasons[lease.url] = f"{answer.reason}, outside the crawl: {why}"
        else:
            self._moved[lease.url] = answer.target
            return [Candidate(url=answer.target, score=0.0, redirects=lease.redirects + 1)]
        return []

    def _outside(self, url: str) -> str:
        return self._rules.scope.allows(url, 0) or trap(url)

    async def _settle(self, lease: Lease, links: Sequence[Candidate], delay_seconds: float) -> None:
        settlement = Settlement(lease=lease, outcome=Outcome.DONE, links=links, delay_seconds=delay_seconds)
        await self.frontier.commit([settlement])


def fetch_once(crawl: Crawl, urls: Sequence[str]) -> dict[str, FetchedPage | str]:
    """Fetch canonical URLs as the crawl would, in this process; can be called once in a process.

    Returns:
        For each URL its page, whose own URL is another one after redirects, or the reason why there is none.

    Raises:
        Interrupted: It was stopped by a signal.
    """
    logging.getLogger().setLevel(logging.ERROR)  # what a worker would log as a warning is in the reasons
    catch = Catch(crawl.rules(), delay_seconds=crawl.config.manners.delay_seconds)
    asyncio.run(catch.ask(urls))
    run_worker(crawl, _work(crawl, catch))
    return asyncio.run(_answers(catch, urls))


async def _answers(catch: Catch, urls: Sequence[str]) -> dict[str, FetchedPage | str]:
    return {url: await catch.answer(url) for url in urls}


def _work(crawl: Crawl, catch: Catch) -> Work:
    manners, engine = crawl.config.manners, crawl.config.engine
    return Work(
        line=cast(Line, catch),  # the spider asks a line for its queue, `process`, `fail` and `close`
        robots=RobotsKeeper(catch.frontier, token=ROBOTS_TOKEN) if manners.robots == "obey" else None,
        worker="once",
        scope=crawl.rules().scope,
        concurrency=engine.concurrency,
        lease_seconds=engine.lease_seconds,
        timeout_seconds=engine.timeout_seconds,
        delay_seconds=manners.delay_seconds,
        longest_crawl_delay_seconds=manners.crawl_delay_up_to_seconds,
    )
