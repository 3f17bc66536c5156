"""A simulated crawl fetches what the line would fetch on the live web, in that order."""

from dataclasses import replace

import pytest

from tests.unit.lab.small_web import SmallWeb, tea_and_solar, u
from thresher.feedback.topic_counts import read_topic_counts
from thresher.judges.adaptive.judge import AdaptiveJudge
from thresher.judges.topics import topics_judge
from thresher.records import Judgement, Outcome, Revision
from thresher.storage.page_store import PageRecord
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.best_first import BestFirst
from thresher.strategies.topics import MultiTopicStrategy
from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.simulator import FETCH_SECONDS, Simulator, TopicVerdicts
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


async def test_of_several_topics_each_learns_and_the_relevant_pages_of_each_are_counted():
    web = tea_and_solar()
    judges = {
        word: AdaptiveJudge(TopicProfile(vectors={"en": {word: 1.0}}, seeds=frozenset([u(seed)])))
        for word, seed in (("solar", "seed"), ("tea", "teahub"))
    }
    strategy = MultiTopicStrategy({name: BestFirst() for name in judges}, seeds={"solar": {u("seed")}})
    simulator = Simulator(web, ParsedPages(web, keep=False), judge=topics_judge(judges), strategy=strategy)
    await simulator.run([u("seed"), u("teahub")], 12)
    assert all(judge.pages_seen > 1 for judge in judges.values())
    counted = await read_topic_counts(simulator._frontier)
    assert counted == dict(simulator._verdicts.counts)
    assert counted["tea"] >= 1


async def test_topic_counts_follow_revised_verdicts():
    verdicts = TopicVerdicts()
    yes, no = Judgement(relevance=0.9, relevant=True), Judgement(relevance=0.1, relevant=False)
    own = {"status": 200, "outcome": Outcome.DONE, "fetched_at": 1.0, "page": True}
    record = PageRecord(fingerprint=1, url=u("tea0"), **own, topics={"tea": yes, "solar": no})
    await verdicts.append([record, replace(record, fingerprint=2, url=u("copy"), duplicate_of=1)])
    assert verdicts.counts == {"tea": 1, "solar": 0}
    changed = Judgement.of_topics({"solar": yes})
    await verdicts.revise([Revision(url=u("tea0"), judgement=changed), Revision(url=u("no"), judgement=changed)])
    assert verdicts.counts == {"tea": 1, "solar": 1}
    await verdicts.revise([Revision(url=u("tea0"), judgement=Judgement.of_topics({"tea": no}))])
    assert verdicts.counts == {"tea": 0, "solar": 1}
