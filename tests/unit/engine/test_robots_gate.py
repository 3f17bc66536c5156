"""A robots entry is a URL that no page can name, and knows what it is for. The gate decides, and changes no lease."""

from dataclasses import replace

import pytest

from thresher.engine.download.request import FetchRequest
from thresher.engine.robots_gate import Allow, FetchRobots, Finish, Park, Reject, Release, RobotsGate, robots_entry
from thresher.frontier.base import plain_url
from thresher.politeness.robots import RobotsCache
from thresher.politeness.settings import Politeness
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage, Lease, RequestKind
from thresher.urls.canonical import canonicalize, host_key
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

PLACE = "http://b.example:8080/rules?x=1"


PAGE = Lease(url="http://a.example/x", host="a.example", score=0.0, fence=1, until=0.0)


def test_a_robots_entry_costs_the_host_that_it_asks():
    assert host_key(robots_entry(PLACE, score=0.5, at=0.0).url) == "b.example:8080"


def test_a_robots_entry_knows_its_address():
    entry = robots_entry(PLACE, score=0.5, at=0.0)
    assert (entry.kind, plain_url(entry.url)) == (RequestKind.ROBOTS, PLACE)


def test_no_link_can_name_a_robots_entry():
    assert canonicalize(robots_entry(PLACE, score=0.5, at=0.0).url) == PLACE


def test_many_who_need_the_same_add_one_robots_entry_an_hour():
    first, second, later = (robots_entry(PLACE, score=0.5, at=at).url for at in (0.0, 3599.0, 3600.0))
    assert first == second != later


@pytest.fixture
def frontier():
    return MemoryFrontier()


@pytest.fixture
def gate(frontier):
    return RobotsGate(
        RobotsCache(frontier, token="thresher"),
        frontier,
        scope=None,
        host_policy=None,
        politeness=Politeness(delay_seconds=1.0, max_crawl_delay_seconds=5.0),
    )


def robots(lease, url="http://a.example/robots.txt"):
    return FetchRequest(url=url, lease=lease, timeout_seconds=1.0, start_by=0.0, is_robots=True)


def answer(text="", status=200, **headers):
    return FetchedPage(url="", status=status, headers=headers, body=text.encode(), fetched_at=0.0)


async def test_the_robots_txt_of_a_host_comes_first_and_then_its_rules_decide(gate):
    assert await gate.check(PAGE) == FetchRobots("http://a.example/robots.txt")
    ending = await gate.take(robots(PAGE), answer("User-agent: *\nDisallow: /no\nCrawl-delay: 2"))
    assert ending == Release(2.0)
    assert await gate.check(PAGE) == Allow()
    assert await gate.check(replace(PAGE, url="http://a.example/no")) == Reject(Reason(ReasonKind.ROBOTS))


async def test_a_host_that_asks_for_a_long_delay_is_parked(gate):
    ending = await gate.take(robots(PAGE), answer("User-agent: *\nCrawl-delay: 60"))
    assert isinstance(ending, Park)
    assert str(ending.reason) == "asks for a delay of 60 s"


async def test_a_robots_txt_elsewhere_is_fetched_with_its_own_entry(gate, frontier):
    await gate.take(robots(PAGE), answer(status=301, location="http://b.example/rules"))
    assert isinstance(await gate.check(PAGE), Park)
    [entry] = await frontier.lease(1, seconds=60)
    assert (entry.kind, await gate.check(entry)) == (RequestKind.ROBOTS, FetchRobots("http://b.example/rules"))
    assert await gate.take(robots(entry, "http://b.example/rules"), answer("")) == Finish(1.0)
    assert await gate.check(entry) == Finish()
