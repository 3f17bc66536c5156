"""A crawl over a frozen web, in process: the same line as on the live web, without sockets.

Pages are fetched one after another. With a delay, hosts are left alone between requests by a virtual clock, on which
a fetch takes its time and waiting costs nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from thresher.archive.pages import NoArchive
from thresher.budgets import Budget
from thresher.classify.base import Judge
from thresher.frontier.memory import MemoryFrontier
from thresher.lab.parsed import ParsedPages
from thresher.lab.timing import Stopwatch, timed_judge, timed_strategy
from thresher.lab.virtualweb import Web
from thresher.line import Line, Rules
from thresher.records import FetchedPage, Lease, ParsedPage
from thresher.strategies.base import Strategy
from thresher.urls.host import host_key
from thresher.urls.scope import Scope
from thresher.warden import Watchfulness

LEASE_SECONDS = 3600.0
FETCH_SECONDS = 0.1
"""How long a fetch takes on the virtual clock."""


class WithinWeb:
    """The edge of a frozen web: its hosts. A dead link on one of them is a fetch like any other."""

    def __init__(self, web: Web) -> None:
        self._hosts = frozenset(web.hosts())
        self._pages = Scope()

    def allows(self, candidate_url: str, hops: int) -> str:
        """Say why a URL lies outside; empty when it lies inside."""
        outside = host_key(candidate_url) not in self._hosts
        return "outside the frozen web" if outside else self._pages.allows(candidate_url, hops)


def rules_of(web: Web, *, host_pages: int = 0) -> Rules:
    """Return the rules of a crawl that is bounded by nothing but its web, and by what a host may give, unless 0."""
    return Rules(scope=WithinWeb(web), watch=Watchfulness(budget=Budget(most=host_pages or len(web) + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """One fetch of a simulated crawl.

    Args:
        page_id: The page's number in its web; -1 for a dead link.
        relevance: As the crawl's own judge saw it.
        bytes: What was fetched.
    """

    url: str
    page_id: int
    relevance: float
    bytes: int

    @property
    def host(self) -> str:
        """The host that was asked."""
        return host_key(self.url)


@dataclass(frozen=True, kw_only=True)
class SimulatedCrawl:
    """What was fetched, in order, and what it cost.

    Args:
        seconds: Of processing, everything included.
        scoring_seconds: The judge's and the strategy's own share of it.
        virtual_seconds: On the virtual clock.
    """

    fetches: Sequence[Fetch]
    seconds: float
    scoring_seconds: float
    virtual_seconds: float


class Answers:
    """What a frozen web says when it is asked: its parsed pages, and 404 for all else."""

    def __init__(self, web: Web, pages: ParsedPages) -> None:
        self._web = web
        self._pages = pages

    def answer(self, url: str, *, at: float) -> FetchedPage:
        """Answer a request; the page itself is not in it, but comes from `parse`."""
        status = 200 if self._pages.get(url) else 404
        return FetchedPage(url=url, status=status, headers={"content-type": "text/html"}, body=b"", fetched_at=at)

    def parse(self, url: str, body: bytes, content_type: str) -> ParsedPage:
        """Give the page that was asked for a moment ago."""
        found = self._pages.get(url)
        assert found is not None
        return found[0]

    def fetch(self, url: str, relevance: float) -> Fetch:
        """Note a fetch."""
        found = self._pages.get(url)
        page_id = self._web.page_id(url) if found else None
        number = -1 if page_id is None else page_id
        return Fetch(url=url, page_id=number, relevance=relevance, bytes=found[1] if found else 0)


class VirtualClock:
    """Time that passes when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Simulator:
    """One crawl of one web.

    Args:
        pages: The web's parsed pages.
        rules: What it may fetch; by default all of the web.
        delay_seconds: Between two requests to a host, on the virtual clock.
    """

    def __init__(
        self,
        web: Web,
        pages: ParsedPages,
        *,
        judge: Judge,
        strategy: Strategy,
        rules: Rules | None = None,
        delay_seconds: float = 0.0,
    ) -> None:
        self._answers = Answers(web, pages)
        self._watch = Stopwatch()
        self._clock = VirtualClock()
        self._delay_seconds = delay_seconds
        self._frontier = MemoryFrontier(clock=self._clock, merge=strategy.merge, waiting_per_host=len(web) * 2 + 1000)
        self._line = Line(
            frontier=self._frontier,
            archive=NoArchive(),
            judge=timed_judge(judge, self._watch),
            strategy=timed_strategy(strategy, self._watch),
            rules=rules or rules_of(web),
            parse=self._answers.parse,
        )

    async def run(self, seeds: Sequence[str], budget: int, *, free: Set[int] = frozenset()) -> SimulatedCrawl:
        """Fetch until the budget is spent or nothing waits; every fetch counts, a dead link's too.

        Args:
            seeds: URLs to start from.
            budget: The largest number of fetches.
            free: Pages whose fetches do not count, and are not told.
        """
        started = time.process_time()
        fetches: list[Fetch] = []
        await self._line.seed(seeds)
        while len(fetches) < budget and (lease := await self._next()):
            fetch = await self._fetch(lease)
            if fetch.page_id not in free:
                fetches.append(fetch)
        return SimulatedCrawl(
            fetches=fetches,
            seconds=time.process_time() - started,
            scoring_seconds=self._watch.seconds,
            virtual_seconds=self._clock.now,
        )

    async def teach(self, told: Mapping[str, bool | None]) -> None:
        """Let the judge hear what a person says of pages, and the queue follow."""
        await self._line.rethink.teach(told)

    async def _next(self) -> Lease | None:
        """Lease the best URL, after as much waiting as the hosts' delays ask for."""
        while not (leases := await self._frontier.lease(1, seconds=LEASE_SECONDS)):
            wait = await self._frontier.seconds_to_next()
            if wait is None:
                return None
            self._clock.now += wait
        return leases[0]

    async def _fetch(self, lease: Lease) -> Fetch:
        answer = self._answers.answer(lease.url, at=self._clock.now)
        if self._delay_seconds:
            self._clock.now += FETCH_SECONDS
        record = await self._line.process(lease, answer, delay_seconds=self._delay_seconds)
        return self._answers.fetch(lease.url, record.relevance)
