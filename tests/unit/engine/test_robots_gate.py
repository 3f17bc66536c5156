"""A robots entry is a URL that no page can name, and knows what it is for. The gate decides, and changes no lease."""

from dataclasses import replace

import pytest

from testing.clock import Clock
from thresher.engine.download.errors import FetchFailed, WorkerStopped
from thresher.engine.download.request import FetchRequest
from thresher.engine.robots_gate import Allow, FetchRobots, Finish, Park, Reject, Release, RobotsGate, robots_entry
from thresher.frontier.base import plain_url
from thresher.politeness.robots import RobotsCache
from thresher.politeness.settings import Politeness
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage, Lease, RequestKind, UsageSignal
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
def clock():
    return Clock()


@pytest.fixture
def make_gate(frontier, clock):
    def make(**politeness):
        return RobotsGate(
            RobotsCache(frontier, token="thresher", clock=clock),
            frontier,
            scope=None,
            host_policy=None,
            politeness=Politeness(delay_seconds=1.0, max_crawl_delay_seconds=5.0, **politeness),
        )

    return make


@pytest.fixture
def gate(make_gate):
    return make_gate()


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


TDMREP = "http://a.example/.well-known/tdmrep.json"
TENTH = replace(PAGE, host_pages=9)
RESERVED = '[{"location": "/x", "tdm-reservation": 1, "tdm-policy": "https://a.example/terms"}]'


async def ready(gate, rules=""):
    """Let a gate learn the robots.txt of the host."""
    await gate.take(robots(PAGE), answer(rules))
    return gate


async def test_tdmrep_json_is_asked_for_before_the_tenth_page_where_opt_outs_are_obeyed(make_gate):
    gate = await ready(make_gate(obey_opt_outs=True))
    assert await gate.check(replace(PAGE, host_pages=8)) == Allow()
    assert await gate.check(TENTH) == FetchRobots(TDMREP)
    assert await gate.take(robots(TENTH, TDMREP), answer(RESERVED)) == Release(1.0)
    assert await gate.check(TENTH) == Reject(Reason.of(ReasonKind.OPTED_OUT, "tdm"))
    assert await gate.check(replace(TENTH, url="http://a.example/y")) == Allow()
    assert await gate.signals(TENTH) == (
        UsageSignal("tdmrep.json", "tdm-reservation", "1"),
        UsageSignal("tdmrep.json", "tdm-policy", "https://a.example/terms"),
    )


@pytest.mark.parametrize(
    ("politeness", "first"),
    [
        ({}, None),
        ({"obey_opt_outs": True}, 10),
        ({"tdmrep": "always"}, 1),
        ({"tdmrep": "never", "obey_opt_outs": True}, None),
    ],
)
async def test_the_user_says_of_which_hosts_tdmrep_json_is_read(make_gate, politeness, first):
    gate = await ready(make_gate(**politeness))
    pages = [number for number in range(1, 100) if await gate.check(replace(PAGE, host_pages=number - 1)) != Allow()]
    assert (pages[0] if pages else None) == first


async def test_a_tdmrep_json_that_is_only_recorded_leaves_no_page_out(make_gate):
    gate = await ready(make_gate(tdmrep="always"))
    await gate.take(robots(PAGE, TDMREP), answer(RESERVED))
    assert await gate.check(PAGE) == Allow()
    assert [signal.value for signal in await gate.signals(PAGE)] == ["1", "https://a.example/terms"]


@pytest.mark.parametrize(
    "result",
    [
        answer(status=404),
        answer(status=503, **{"retry-after": "5"}),
        answer(status=301, location="http://b.example/tdmrep.json"),
        answer("<title>Not found</title>"),
        replace(answer(RESERVED), truncated=True),
        FetchFailed(ReasonKind.TIMEOUT),
    ],
)
async def test_a_host_is_asked_for_its_tdmrep_json_once_a_day_whatever_it_answers(make_gate, clock, result):
    gate = await ready(make_gate(obey_opt_outs=True, tdmrep="always"))
    assert await gate.take(robots(PAGE, TDMREP), result) == Release(1.0)
    assert await gate.check(PAGE) == Allow()
    assert await gate.signals(PAGE) == ()
    clock.now += 23 * 3600
    assert await gate.check(PAGE) == Allow()
    clock.now += 2 * 3600
    await ready(gate)
    assert await gate.check(PAGE) == FetchRobots(TDMREP)


async def test_a_worker_that_was_stopped_asks_for_tdmrep_json_again(make_gate):
    gate = await ready(make_gate(tdmrep="always"))
    await gate.take(robots(PAGE, TDMREP), WorkerStopped())
    assert await gate.check(PAGE) == FetchRobots(TDMREP)


async def test_a_tdmrep_json_that_robots_txt_forbids_is_not_asked_for(make_gate):
    gate = await ready(make_gate(tdmrep="always"), "User-agent: *\nDisallow: /.well-known/")
    assert await gate.check(PAGE) == Allow()


async def test_a_page_that_robots_txt_leaves_out_costs_no_tdmrep_json(make_gate):
    gate = await ready(make_gate(tdmrep="always", obey_opt_outs=True), "User-agent: *\nContent-Signal: ai-train=no")
    assert await gate.check(PAGE) == Reject(Reason.of(ReasonKind.OPTED_OUT, "ai-train"))


async def test_a_robots_txt_that_leads_to_tdmrep_json_is_a_robots_txt(make_gate):
    gate = make_gate(tdmrep="always")
    await gate.take(robots(PAGE), answer(status=301, location=TDMREP))
    assert await gate.check(PAGE) == FetchRobots(TDMREP)
    await gate.take(robots(PAGE, TDMREP), answer("User-agent: *\nDisallow: /x"))
    assert await gate.check(PAGE) == Reject(Reason(ReasonKind.ROBOTS))


async def test_another_worker_knows_the_tdmrep_json_too(make_gate):
    gate = await ready(make_gate(tdmrep="always"))
    await gate.take(robots(PAGE, TDMREP), answer(RESERVED))
    assert await make_gate(tdmrep="always", obey_opt_outs=True).check(PAGE) == Reject(
        Reason.of(ReasonKind.OPTED_OUT, "tdm")
    )
