"""Cookies lead back to the page that was requested, within its lease, and go nowhere else."""

import asyncio
import time
from contextlib import asynccontextmanager

import pytest

from thresher.engine.fetcher import MAX_COOKIES, MAX_HOPS, CookieChain, Fetcher
from thresher.engine.lease_loop import LeaseLoop, WorkerContext
from thresher.engine.robots_gate import Allow
from thresher.frontier.base import UrlState
from thresher.judges.cosine import CosineJudge
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.settings import Politeness
from thresher.records import Candidate, FetchedPage, Lease
from thresher.storage.page_store import PageStoreWriter
from thresher.storage.reader import PageStoreReader
from thresher.strategies.baselines import BreadthFirst
from thresher.topics.profile import TopicProfile
from thresher.urls.canonical import fingerprint
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

URL = "http://a.example/article"


def lease(url=URL, **more):
    return Lease(url=url, host="a.example", score=1.0, fence=1, until=0.0, **more)


def response(url=URL, location="", *cookies, status=302, body=b""):
    lines = [("Location", location), *(("Set-Cookie", cookie) for cookie in cookies)]
    headers = {"location": location} if location else {}
    return FetchedPage(url=url, status=status, headers=headers, body=body, fetched_at=1.0, header_lines=lines)


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("/article", True),
        ("/article?cookies=1", True),
        ("/check?back=%2Farticle", True),
        ("/new", False),
        ("/articles", False),
        ("https://a.example/article", False),
        ("http://a.example:81/article", False),
        ("http://b.example/check?back=/article", False),
    ],
)
def test_a_redirect_that_leads_back_with_a_cookie_is_followed(location, followed):
    target = CookieChain(lease()).next_target(response(URL, location, "a=1; Path=/"))
    assert bool(target) is followed


def test_a_redirect_that_takes_from_the_query_leads_to_another_page():
    chain = CookieChain(lease(f"{URL}?id=1&from=mail"))
    assert chain.next_target(response(f"{URL}?id=1&from=mail", "/article?id=1", "session=1")) == ""


def test_without_a_cookie_nothing_is_followed():
    assert CookieChain(lease()).next_target(response(URL, "/article")) == ""


def test_the_page_that_redirected_here_is_led_back_to():
    consent = "http://a.example/consent"
    bounced = lease(consent, redirects=1, parent=fingerprint(URL))
    assert CookieChain(bounced).next_target(response(consent, "/article", "a=1")) == URL
    linked = lease(consent, parent=fingerprint(URL))
    assert CookieChain(linked).next_target(response(consent, "/article", "a=1")) == ""


def test_cookies_are_replaced_removed_and_bounded():
    chain = CookieChain(lease())
    many = [f"c{number}=1" for number in range(MAX_COOKIES + 5)]
    odd = ["=no name", "no value", "a=\xe9", f"long={'x' * 5000}", "c1=new; Domain=example", "c0=; Max-Age=0"]
    assert chain.next_target(response(URL, "/article", *many, *odd)) == URL
    sent = chain.cookies().reveal().split("; ")
    assert sent == ["c1=new", *many[2:MAX_COOKIES]]
    assert repr(chain.cookies()) == "[redacted]"


def test_a_chain_ends():
    chain = CookieChain(lease())
    followed = [chain.next_target(response(URL, "/article", f"a={number}")) for number in range(20)]
    assert followed.count(URL) == MAX_HOPS
    again = CookieChain(lease())
    assert again.next_target(response(URL, "/article", "a=1"))
    assert not again.next_target(response(URL, "/article", "a=1"))  # the cookie did not help


def test_a_page_elsewhere_is_requested_in_its_turn():
    chain = CookieChain(lease())
    chain.next_target(response(URL, "/article", "a=1"))
    result = chain.result(FetchedPage(url="http://a.example/home", status=200, headers={}, body=b"x", fetched_at=1.0))
    assert (result.url, result.status, result.headers["location"]) == (URL, 302, "http://a.example/home")
    with_query = FetchedPage(url=f"{URL}?set=1", status=200, headers={}, body=b"x", fetched_at=1.0)
    assert chain.result(with_query).url == URL


class Site:
    """Answers by URL and cookies, and records both."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    @asynccontextmanager
    async def fetch(self, request):
        cookies = request.cookies.reveal() if request.cookies else ""
        self.asked.append((time.monotonic(), request.url, cookies))
        yield self.answers(request.url, cookies)


def consent(url, cookies):
    if "/consent" in url:
        return response(url, "/article", "agreed=1")
    return response(url, status=200, body=b"<p>solar <a href=/x>x</a>") if cookies else response(url, "/consent")


class Forbids:
    """A robots.txt that forbids the article once it is asked for again."""

    async def check(self, lease):
        return Allow()

    async def allows(self, url):
        return False

    async def delay_seconds(self, url):
        return 0.0

    async def signals(self, lease):
        return ()


@pytest.fixture
async def crawling(tmp_path):
    opened = []

    def make(answers, *, delay_seconds=0.0, lease_seconds=60.0, robots=None):
        frontier = MemoryFrontier(delay_seconds=delay_seconds)
        judge = CosineJudge(TopicProfile(vectors={"en": {"solar": 1.0}}))
        rules, archive = PipelineRules(scope=UrlScope()), PageStoreWriter(tmp_path / "a.db")
        pipeline = Pipeline(frontier=frontier, archive=archive, judge=judge, strategy=BreadthFirst(), rules=rules)
        work = WorkerContext(
            processor=pipeline,
            robots=None,
            worker="w",
            lease_seconds=lease_seconds,
            timeout_seconds=1.0,
            politeness=Politeness(delay_seconds=delay_seconds),
        )
        site = Site(answers)
        fetcher = Fetcher(work, LeaseLoop(work), site.fetch)
        fetcher.loop.robots = robots
        opened.append(pipeline)
        return fetcher, frontier, site

    yield make
    for pipeline in opened:
        await pipeline.close()


async def run(fetcher, frontier, leases):
    await frontier.add([Candidate(url=URL, score=1.0, hops=2, parent=77)])
    for _ in range(leases):
        [granted] = await fetcher.loop.acquire_leases()
        await fetcher.fetch(await fetcher.loop.request(granted))


async def test_a_consent_page_leads_back_to_the_article_as_if_it_had_not_been(crawling, tmp_path):
    fetcher, frontier, site = crawling(consent)
    await run(fetcher, frontier, 2)
    assert [(url, cookies) for _, url, cookies in site.asked] == [
        (URL, ""),
        ("http://a.example/consent", ""),
        (URL, "agreed=1"),
    ]
    counts = await frontier.counts()
    assert (counts.pages, counts.done, counts.waiting) == (1, 2, 1)
    entry = await frontier.find("http://a.example/x")
    assert (entry.hops, entry.parent) == (3, fingerprint(URL))
    consented = await frontier.find("http://a.example/consent")
    assert (consented.state, str(consented.reason)) == (UrlState.DONE, f"redirected to {URL}")
    with PageStoreReader(tmp_path) as reader:
        record = reader.find(fingerprint(URL))
    assert (record.page, record.parent, record.depth) == (True, 77, 2)


async def test_the_delay_of_the_host_is_kept_within_a_lease(crawling):
    fetcher, frontier, site = crawling(
        lambda url, cookies: response(url, status=200) if cookies else response(url, "/article", "a=1"),
        delay_seconds=0.2,
    )
    await run(fetcher, frontier, 1)
    (first, _, _), (second, _, _) = site.asked
    assert second - first >= 0.2


async def test_what_a_lease_has_no_time_for_fails_and_is_not_requested(crawling):
    fetcher, frontier, site = crawling(
        lambda url, cookies: response(url, "/article", "a=1"), delay_seconds=30.0, lease_seconds=20.0
    )
    await asyncio.wait_for(run(fetcher, frontier, 1), 5)
    entry = await frontier.find(URL)
    assert (entry.state, len(site.asked)) == (UrlState.FAILED, 1)
    assert str(entry.reason) == "its redirects with cookies take longer than a lease"


async def test_robots_txt_is_obeyed_within_a_lease(crawling):
    fetcher, frontier, site = crawling(lambda url, cookies: response(url, "/article?x=1", "a=1"), robots=Forbids())
    await run(fetcher, frontier, 1)
    assert len(site.asked) == 1
    assert (await frontier.find(f"{URL}?x=1")).state is UrlState.WAITING
