"""A simulated crawl fetches what the line would fetch on the live web, in that order."""

import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.best_first import BestFirst
from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.simulator import FETCH_SECONDS, Simulator
from thresher_lab.simulation.tasks import PerfectJudge
from thresher_lab.webs.parsed_pages import ParsedPages


def simulator(web, strategy, **more):
    pages = ParsedPages(web, keep=False)
    return Simulator(web, pages, judge=PerfectJudge(web, "energy"), strategy=strategy, **more)


async def test_breadth_first_takes_pages_as_they_come_dead_links_too():
    web = tea_and_solar()
    crawl = await simulator(web, BreadthFirst()).run([u("seed")], 5)
    assert [fetch.url for fetch in crawl.fetches] == [u("seed"), u("teahub"), u("dead"), u("solarhub"), u("tea0")]
    assert [fetch.page_id for fetch in crawl.fetches] == [0, 1, -1, 2, 3]


async def test_best_first_prefers_the_links_of_relevant_pages():
    web = tea_and_solar()
    crawl = await simulator(web, BestFirst()).run([u("seed")], 14)
    assert [fetch.relevance for fetch in crawl.fetches] == [1.0, 0.0, 0.0, *[1.0] * 11]


async def test_a_crawl_ends_when_nothing_waits():
    web = SmallWeb({u("1"): ([], "one", [u("2")]), u("2"): ([], "two", [])})
    crawl = await simulator(web, BreadthFirst()).run([u("1")], 100)
    assert len(crawl.fetches) == 2


async def test_hosts_are_left_alone_on_the_virtual_clock():
    web = SmallWeb({u(str(number)): ([], f"page {number}", [u(str(number + 1))]) for number in range(10)})
    crawl = await simulator(web, BreadthFirst(), delay_seconds=2.0).run([u("0")], 10)
    assert len(crawl.fetches) == 10
    assert crawl.virtual_seconds == pytest.approx(10 * FETCH_SECONDS + 9 * 2.0)
    assert crawl.seconds < 2.0


async def test_the_cost_of_scoring_is_part_of_the_whole():
    web = tea_and_solar()
    crawl = await simulator(web, BestFirst()).run([u("seed")], 20)
    assert 0 < crawl.scoring_seconds < crawl.seconds


async def test_links_out_of_the_web_are_not_followed_and_dead_links_inside_are():
    web = SmallWeb({u("1"): ([], "one", ["http://elsewhere.example/", u("gone")])})
    crawl = await simulator(web, BreadthFirst()).run([u("1")], 100)
    assert [fetch.url for fetch in crawl.fetches] == [u("1"), u("gone")]


async def test_a_judge_that_learns_still_learns_on_a_stopwatch():
    web = tea_and_solar()
    judge = AdaptiveJudge(TopicProfile(vectors={"en": {"solar": 1.0}}, seeds=frozenset([u("seed")])))
    await Simulator(web, ParsedPages(web, keep=False), judge=judge, strategy=BreadthFirst()).run([u("seed")], 5)
    assert judge.pages_seen > 1
