"""Row U3: the forecast holds, and never says that all is found while URLs wait."""

import asyncio

import pytest

from thresher.feedback.forecast import read_forecast
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.webs.generator import generate
from thresher_lab.webs.vocabulary import TOPICS

MOMENTS = (180, 220, 260, 300, 340)


async def moments(seed, cache):
    """Crawl a generated web; yield the forecast and the truth at some moments."""
    topics = tuple(TOPICS)[seed : seed + 1 + seed % 4]
    web = generate(seed, pages=1500, hosts=20, topics=topics, languages=(["en"], ["zh"])[seed % 2], page_bytes=1000)
    bench = TaskRunner(web, cache=cache)
    task = Task(web=web.name, topic=topics[0], strategy="thresher", seed_set=seed, seeds=3)
    seeds, targets = bench.seeds(task), web.targets(topics[0])
    simulator = Simulator(
        web, bench.pages, judge=bench.judge(task, seeds), strategy=LinkModelStrategy(*bench.strategy_arguments(task))
    )
    starts, fetched, found = [web.url_of(number) for number in seeds], 0, []
    for moment in MOMENTS:
        fetched += len((await simulator.run(starts, moment - fetched)).fetches)
        frontier, starts = simulator._frontier, []
        waiting = [web.page_id(entry.url) in targets for entry in await frontier.peek(100_000)]
        found.append((moment, await read_forecast(frontier, await frontier.counts()), sum(waiting), len(waiting)))
    return found


@pytest.fixture(scope="module")
def crawls(tmp_path_factory):
    return [moment for seed in range(4) for moment in asyncio.run(moments(seed, tmp_path_factory.mktemp("webs")))]


def test_u3_the_interval_holds_in_nine_of_ten_moments_of_lab_crawls(crawls):
    shown = [(ahead, truth) for moment, ahead, truth, _ in crawls if moment > 200 and ahead]
    assert len(shown) >= 8
    assert sum(ahead.least <= truth <= ahead.most for ahead, truth in shown) >= 0.9 * len(shown)


def test_u3_there_is_no_forecast_before_200_pages(crawls):
    assert [ahead for moment, ahead, _, _ in crawls if moment < 200] == [None] * 4


def test_u3_no_forecast_says_that_nothing_is_left_while_urls_wait(crawls):
    assert all(1 <= ahead.most <= waiting for _, ahead, _, waiting in crawls if ahead)
    assert {True, False} == {ahead is None for _, ahead, _, _ in crawls}
