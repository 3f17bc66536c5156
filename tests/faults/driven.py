"""The fetcher without a network: its leases, rules and pauses, by a clock that a test moves.

`drive` does what a downloader would: it asks a `Web` for every request that the fetcher makes, and hands the answer
back. A day takes as long as its requests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field

from thresher.engine.download.errors import timed_out
from thresher.engine.download.request import FetchRequest
from thresher.engine.fetcher import Fetcher
from thresher.engine.lease_loop import LeaseLoop, WorkerContext
from thresher.frontier.base import CrawlStore, HostEntry
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.host_budget import HostBudget
from thresher.politeness.robots import RobotsCache
from thresher.politeness.settings import Politeness
from thresher.records import Candidate, FetchedPage, Judgement, Lease, ParsedPage
from thresher.storage.page_store import NoArchive
from thresher.strategies.baselines import BreadthFirst
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

LEASE_SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """What a web answers; status 0 for nothing at all."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


Web = Callable[[str, float], Reply]
"""From a URL and the time to an answer."""


@dataclass(frozen=True)
class Asked:
    """A request that was made."""

    at: float
    url: str
    worker: int

    @property
    def is_robots(self) -> bool:
        """Whether it was for rules."""
        return self.url.endswith("/robots.txt")


@dataclass
class Drive:
    """A crawl by a clock: what was asked, and how the hosts stand in the end."""

    now: float = 1_000_000.0
    asked: list[Asked] = field(default_factory=list)
    hosts: dict[str, HostEntry] = field(default_factory=dict)

    def clock(self) -> float:
        """Tell the time."""
        return self.now

    def pages(self, after: float = 0.0) -> list[Asked]:
        """Return the requests for pages, from a moment on."""
        return [asked for asked in self.asked if not asked.is_robots and asked.at >= after]


class _AnyPage:
    """Finds every page relevant."""

    def judge(self, page: ParsedPage) -> Judgement:
        return Judgement(relevance=1.0, relevant=True)

    def words(self, page: ParsedPage) -> list[object]:
        return []


async def drive(
    web: Web,
    seeds: Sequence[str],
    *,
    seconds: float,
    delay_seconds: float = 1.0,
    workers: int = 1,
    max_requests: int = 100_000,
) -> Drive:
    """Crawl for some seconds by the clock, or until nothing more can come."""
    reported = Drive()
    end = reported.now + seconds
    frontier = MemoryFrontier(clock=reported.clock, delay_seconds=delay_seconds)
    fetchers = [_fetcher(frontier, reported, delay_seconds, web, number) for number in range(workers)]
    await frontier.add([Candidate(url=seed, score=1.0) for seed in seeds])
    turn = 0
    while reported.now < end and len(reported.asked) < max_requests:
        worker = turn % workers
        leases = await frontier.lease(1, seconds=LEASE_SECONDS, worker=str(worker))
        turn += 1
        for lease in leases:
            await _fetch(fetchers[worker], lease)
        if not leases:
            wait = await frontier.seconds_to_next()
            if wait is None:
                break
            reported.now = min(end, reported.now + max(wait, 0.001))
    reported.hosts = {entry.host: entry for entry in await frontier.hosts(10_000)}
    return reported


def _fetcher(frontier: CrawlStore, reported: Drive, delay_seconds: float, web: Web, worker: int) -> Fetcher:
    pipeline = Pipeline(
        frontier=frontier,
        archive=NoArchive(),
        judge=_AnyPage(),  # type: ignore[arg-type]
        strategy=BreadthFirst(),
        rules=PipelineRules(scope=UrlScope(), host_limits=HostPolicyConfig(budget=HostBudget(most=1_000_000))),
    )
    robots = RobotsCache(frontier, token="Thresher", clock=reported.clock)
    context = WorkerContext(
        processor=pipeline, robots=robots, worker="driven", politeness=Politeness(delay_seconds=delay_seconds)
    )

    def fetch(request: FetchRequest) -> AbstractAsyncContextManager[FetchedPage]:
        reported.asked.append(Asked(reported.now, request.url, worker))
        return _answered(request.url, web(request.url, reported.now))

    return Fetcher(context, LeaseLoop(context), fetch)


async def _fetch(fetcher: Fetcher, lease: Lease) -> None:
    fetcher.loop.open[lease.fence] = lease
    if request := await fetcher.loop.request(lease):
        await fetcher.fetch(request)


@asynccontextmanager
async def _answered(url: str, reply: Reply) -> AsyncIterator[FetchedPage]:
    if not reply.status:
        raise timed_out()
    headers = {name.lower(): value for name, value in {"Content-Type": "text/html", **reply.headers}.items()}
    yield FetchedPage(url=url, status=reply.status, headers=headers, body=reply.body.encode(), fetched_at=0.0)
