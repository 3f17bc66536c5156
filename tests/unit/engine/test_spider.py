"""A lease is over for its worker no later than for the store: nothing is begun that could outlast it."""

import asyncio
import time
from dataclasses import replace

import pytest
from scrapy.http import Request, Response
from twisted.internet.testing import StringTransport
from twisted.web._newclient import Request as WireRequest

from thresher.engine.download.handler import BoundedDownload, LeaseExpired
from thresher.engine.download.header_limits import BoundedHeaders, BoundedProtocol
from thresher.engine.lease_loop import MARGIN_SECONDS, WorkerContext
from thresher.engine.spider import LeaseSpider
from thresher.errors import StoreError
from thresher.frontier.memory.frontier import MemoryFrontier
from thresher.judges.cosine import CosineJudge
from thresher.pipeline.links import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.records import Candidate
from thresher.storage.page_store import NoArchive
from thresher.strategies.baselines import BreadthFirst
from thresher.topics.profile import TopicProfile
from thresher.urls.scope import UrlScope

URL = "http://a.example/"
TIMEOUT_SECONDS, SPARE_SECONDS = 0.1, 0.1


class SlowStore(MemoryFrontier):
    """Takes its time to say what was leased."""

    seconds = 0.0

    async def lease(self, limit, **more):
        leases = await super().lease(limit, **more)
        await asyncio.sleep(self.seconds)
        return leases


@pytest.fixture
async def frontier():
    frontier = SlowStore()
    await frontier.add([Candidate(url=URL, score=1.0)])
    return frontier


@pytest.fixture
def spider(frontier):
    rules = PipelineRules(scope=UrlScope())
    judge = CosineJudge(TopicProfile(vectors={"en": {"solar": 1.0}}))
    pipeline = Pipeline(frontier=frontier, archive=NoArchive(), judge=judge, strategy=BreadthFirst(), rules=rules)
    lease_seconds = TIMEOUT_SECONDS + MARGIN_SECONDS + SPARE_SECONDS
    work = WorkerContext(
        processor=pipeline, robots=None, worker="w1", lease_seconds=lease_seconds, timeout_seconds=TIMEOUT_SECONDS
    )
    return LeaseSpider(context=work)


async def test_a_lease_that_came_in_time_becomes_a_request_that_knows_its_time(spider):
    before = time.monotonic()
    [lease] = await spider.loop.grant()
    request = await spider.loop.request(lease)
    assert before + SPARE_SECONDS <= request.meta["start_by"] <= time.monotonic() + SPARE_SECONDS
    assert request.meta["download_timeout"] == TIMEOUT_SECONDS


async def test_a_lease_whose_answer_was_long_under_way_goes_back_unused(spider, frontier):
    frontier.seconds = SPARE_SECONDS + 0.05
    [lease] = await spider.loop.grant()
    assert await spider.loop.request(lease) is None
    assert spider.loop.open == {}
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)


async def test_a_request_that_waited_too_long_asks_nobody():
    handler = object.__new__(BoundedDownload)
    with pytest.raises(LeaseExpired):
        await handler.download_request(Request(URL, meta={"start_by": time.monotonic() - 0.01}))


@pytest.mark.parametrize(("late", "sent"), [(True, False), (False, True)])
async def test_a_worker_that_slept_while_it_connected_sends_nothing(late, sent):
    transport = StringTransport()
    transport.abortConnection = transport.loseConnection
    transport.doWrite = lambda: None
    protocol = BoundedProtocol()
    protocol.makeConnection(transport)
    headers = BoundedHeaders({b"host": [b"a.example"]})
    headers.send_by = time.monotonic() + (-0.01 if late else 60)
    answer = protocol.request(WireRequest._construct(b"GET", b"/", headers.copy(), None))
    answer.addErrback(lambda failure: None)
    assert bool(transport.value()) is sent
    assert transport.disconnecting is late


async def test_a_store_that_refuses_ends_the_worker_with_an_error(spider, frontier, monkeypatch):
    async def refuse(*_, **__):
        raise StoreError("refused")

    monkeypatch.setattr(frontier, "lease", refuse)
    assert [request async for request in spider.start()] == []
    assert isinstance(spider.loop.fatal, StoreError)


class Sight:
    """Stands for a browser: has places or none, and says of pages what it was told to."""

    seconds = 5.0

    def __init__(self, *, places=True, says=None):
        self.places, self.says, self.freed = places, says, []

    async def may_begin(self, lease):
        return self.places

    async def see(self, lease, page, *, until):
        self.until = until
        return replace(page, body=b"<p>solar", rendered=True) if self.says == "made" else self.says

    def free(self, lease):
        self.freed.append(lease.fence)


def with_browser(spider, browser):
    return LeaseSpider(context=replace(spider.loop.context, browser=browser, lease_seconds=60.0))


async def fetched(spider):
    [lease] = await spider.loop.grant()
    request = await spider.loop.request(lease)
    await spider.take_page(Response(URL, body=b"<div id=root>", request=request), lease)
    return lease


async def test_a_fetch_leaves_time_for_its_page_to_be_rendered(spider):
    spider = with_browser(spider, Sight(says="made"))
    before = time.monotonic()
    [lease] = await spider.loop.grant()
    latest = before + 60 - TIMEOUT_SECONDS - Sight.seconds - MARGIN_SECONDS
    assert spider.loop.start_by(lease) == pytest.approx(latest, abs=1.0)


async def test_a_rendered_page_goes_down_the_line(spider, frontier):
    browser = Sight(says="made")
    lease = await fetched(with_browser(spider, browser))
    entry = await frontier.find(URL)
    assert (entry.state, entry.reason) == ("done", "through a browser")
    assert browser.freed == [lease.fence]
    assert browser.until <= time.monotonic() + 60 - MARGIN_SECONDS


async def test_a_host_without_a_place_in_the_browser_is_not_asked(spider, frontier):
    spider = with_browser(spider, Sight(places=False))
    [lease] = await spider.loop.grant()
    assert await spider.loop.request(lease) is None
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)


async def test_a_page_whose_browser_died_is_tried_again(spider, frontier):
    browser = Sight(says="the browser died")
    lease = await fetched(with_browser(spider, browser))
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries, browser.freed) == ("waiting", 1, [lease.fence])


async def test_a_page_that_cannot_be_seen_now_goes_back(spider, frontier):
    await fetched(with_browser(spider, Sight(says=None)))
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)
