"""When a URL brings nothing, a strategy that wants to may say where to go on."""

import pytest

from testing.clock import Clock
from tests.unit.pipeline.test_pipeline import SEED, MemoryArchive, WordJudge
from thresher.frontier.base import MAX_TRIES, UrlState
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Candidate, FetchedPage, Merge
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

ELSEWHERE = "http://b.example/"


class Walker:
    merge = Merge.MAX

    def seeds(self, urls):
        return [Candidate(url=url, score=1.0) for url in urls]

    def score(self, page, judgement, lease):
        return [Candidate(url=link.url, score=0.5) for link in page.links]

    def on_miss(self, lease):
        return [Candidate(url=ELSEWHERE, score=0.25, strategy_data={"after": lease.url})]


class Stumbler(Walker):
    def on_miss(self, lease):
        raise RuntimeError("lost")


class World:
    def __init__(self, strategy):
        self.clock = Clock()
        self.frontier = MemoryFrontier(clock=self.clock)
        rules = PipelineRules(scope=UrlScope())
        self.pipeline = Pipeline(
            frontier=self.frontier, archive=MemoryArchive(), judge=WordJudge(), strategy=strategy, rules=rules
        )

    async def answer(self, status, html=""):
        [lease] = await self.frontier.lease(1, seconds=60)
        page = FetchedPage(
            url=lease.url, status=status, headers={"content-type": "text/html"}, body=html.encode(), fetched_at=0.0
        )
        await self.pipeline.process(lease, page)


@pytest.fixture
async def world():
    world = World(Walker())
    await world.pipeline.seed([SEED])
    return world


async def test_after_a_dead_link_the_crawl_goes_on_where_the_strategy_says(world):
    await world.answer(404)
    found = await world.frontier.find(ELSEWHERE)
    assert (found.state, found.score) == (UrlState.WAITING, 0.25)


async def test_after_a_copy_too(world):
    await world.answer(200, f"<p>solar</p><a href='{SEED}copy'></a>")
    assert await world.frontier.find(ELSEWHERE) is None
    await world.answer(200, "<p>solar</p>")
    assert await world.frontier.find(ELSEWHERE) is not None


async def test_a_url_that_is_tried_again_is_not_missed_yet(world):
    for _ in range(MAX_TRIES - 1):
        await world.answer(503)
        world.clock.now += 10_000
    assert await world.frontier.find(ELSEWHERE) is None
    await world.answer(503)
    assert await world.frontier.find(ELSEWHERE) is not None


async def test_a_strategy_that_breaks_over_it_does_not_stop_the_crawl(caplog):
    world = World(Stumbler())
    await world.pipeline.seed([SEED])
    await world.answer(404)
    assert (await world.frontier.find(SEED)).state is UrlState.FAILED
    assert "failed after the miss" in caplog.text
