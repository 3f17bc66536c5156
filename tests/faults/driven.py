"""The spider without a network: its leases, rules and pauses, by a clock that a test moves.

`drive` does what Scrapy would: it asks a `Web` for every request that the spider makes, and hands the answer back. A
day takes as long as its requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import scrapy
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from twisted.python.failure import Failure

from thresher.engine.lease_loop import WorkerContext
from thresher.engine.spider import LeaseSpider
from thresher.frontier.base import CrawlStore, HostEntry
from thresher.frontier.memory.frontier import MemoryFrontier
from thresher.pipeline.host_policy import HostPolicyConfig
from thresher.pipeline.links import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.host_budget import HostBudget
from thresher.politeness.robots import RobotsCache
from thresher.records import Candidate, Judgement, Lease, ParsedPage
from thresher.storage.page_store import NoArchive
from thresher.strategies.baselines import BreadthFirst
from thresher.urls.scope import UrlScope

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
    told = Drive()
    end = told.now + seconds
    frontier = MemoryFrontier(clock=told.clock, delay_seconds=delay_seconds)
    spiders = [_spider(frontier, told, delay_seconds) for _ in range(workers)]
    await frontier.add([Candidate(url=seed, score=1.0) for seed in seeds])
    turn = 0
    while told.now < end and len(told.asked) < max_requests:
        worker = turn % workers
        leases = await frontier.lease(1, seconds=LEASE_SECONDS, worker=str(worker))
        turn += 1
        for lease in leases:
            await _fetch(web, spiders[worker], lease, told, worker)
        if not leases:
            wait = await frontier.seconds_to_next()
            if wait is None:
                break
            told.now = min(end, told.now + max(wait, 0.001))
    told.hosts = {entry.host: entry for entry in await frontier.hosts(10_000)}
    return told


def _spider(frontier: CrawlStore, told: Drive, delay_seconds: float) -> LeaseSpider:
    pipeline = Pipeline(
        frontier=frontier,
        archive=NoArchive(),
        judge=_AnyPage(),  # type: ignore[arg-type]
        strategy=BreadthFirst(),
        rules=PipelineRules(scope=UrlScope(), watch=HostPolicyConfig(budget=HostBudget(most=1_000_000))),
    )
    robots = RobotsCache(frontier, token="Thresher", clock=told.clock)
    return LeaseSpider(
        context=WorkerContext(processor=pipeline, robots=robots, worker="driven", delay_seconds=delay_seconds)
    )


async def _fetch(web: Web, spider: LeaseSpider, lease: Lease, told: Drive, worker: int) -> None:
    spider.loop.open[lease.fence] = lease
    request = await spider.loop.request(lease)
    if request is None:
        return
    told.asked.append(Asked(told.now, request.url, worker))
    reply = web(request.url, told.now)
    if reply.status:
        await request.callback(_response(request, reply), **request.cb_kwargs)  # type: ignore[misc]
    else:
        failure = Failure(DownloadTimeoutError("driven"))
        failure.request = request
        await request.errback(failure)  # type: ignore[misc]


def _response(request: scrapy.Request, reply: Reply) -> Response:
    headers = {"Content-Type": "text/html", **reply.headers}
    return Response(request.url, status=reply.status, headers=headers, body=reply.body.encode(), request=request)
