"""A lease is over for its worker no later than for the store: nothing is begun that could outlast it."""

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from thresher.engine.download.errors import AddressRefused, FetchFailed, LeaseExpired, WorkerStopped
from thresher.engine.fetcher import Fetcher
from thresher.engine.lease_loop import MARGIN_SECONDS, LeaseLoop, WorkerContext
from thresher.errors import StoreError
from thresher.judges.cosine import CosineJudge
from thresher.pipeline.outcomes import PipelineRules
from thresher.pipeline.pipeline import Pipeline
from thresher.politeness.robots import RobotsCache
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import Candidate, FetchedPage
from thresher.storage.page_store import NoArchive
from thresher.strategies.baselines import BreadthFirst
from thresher.topics.profile import TopicProfile
from thresher.urls.scope import UrlScope
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

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


class Web:
    """Answers every request alike, or fails, or waits for the test."""

    def __init__(self):
        self.result, self.asked, self.may_answer = b"<p>solar", [], asyncio.Event()
        self.may_answer.set()

    @asynccontextmanager
    async def fetch(self, request):
        self.asked.append(request.url)
        await self.may_answer.wait()
        if isinstance(self.result, Exception):
            raise self.result
        yield FetchedPage(url=request.url, status=200, headers={}, body=self.result, fetched_at=0.0)


@pytest.fixture
async def web():
    return Web()


@pytest.fixture
def fetcher(frontier, web):
    rules = PipelineRules(scope=UrlScope())
    judge = CosineJudge(TopicProfile(vectors={"en": {"solar": 1.0}}))
    pipeline = Pipeline(frontier=frontier, archive=NoArchive(), judge=judge, strategy=BreadthFirst(), rules=rules)
    lease_seconds = TIMEOUT_SECONDS + MARGIN_SECONDS + SPARE_SECONDS
    work = WorkerContext(
        processor=pipeline, robots=None, worker="w1", lease_seconds=lease_seconds, timeout_seconds=TIMEOUT_SECONDS
    )
    return Fetcher(work, LeaseLoop(work), web.fetch)


async def test_a_lease_that_came_in_time_becomes_a_request_that_knows_its_time(fetcher):
    before = time.monotonic()
    [lease] = await fetcher.loop.acquire_leases()
    request = await fetcher.loop.request(lease)
    assert before + SPARE_SECONDS <= request.start_by <= time.monotonic() + SPARE_SECONDS
    assert request.timeout_seconds == TIMEOUT_SECONDS


async def test_a_lease_whose_answer_was_long_under_way_goes_back_unused(fetcher, frontier):
    frontier.seconds = SPARE_SECONDS + 0.05
    [lease] = await fetcher.loop.acquire_leases()
    assert await fetcher.loop.request(lease) is None
    assert fetcher.loop.open == {}
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)


@pytest.mark.parametrize(
    ("failure", "state", "tries", "reason"),
    [
        (LeaseExpired(), "waiting", 0, ""),
        (WorkerStopped(), "waiting", 0, ""),
        (FetchFailed(ReasonKind.TIMEOUT), "waiting", 1, "timeout"),
        (FetchFailed(ReasonKind.HEAD_TOO_LONG, retry=False), "failed", 0, "too many headers"),
        (AddressRefused("a private address"), "failed", 0, "refused: a private address"),
        (ZeroDivisionError(), "waiting", 1, "ZeroDivisionError"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_failure_settles_its_lease(fetcher, frontier, web, failure, state, tries, reason):
    web.result = failure
    [lease] = await fetcher.loop.acquire_leases()
    await fetcher.fetch(await fetcher.loop.request(lease))
    entry = await frontier.find(URL)
    assert (entry.state, fetcher.loop.open) == (state, {})
    assert entry.tries in (tries, tries + (state == "failed"))
    assert reason in str(entry.reason)


async def test_a_host_rests_after_a_fetch_during_which_the_worker_was_stopped(fetcher, frontier, web):
    web.result = WorkerStopped()
    [lease] = await fetcher.loop.acquire_leases()
    await fetcher.fetch(await fetcher.loop.request(lease))
    host = await frontier.find_host(lease.host)
    assert (str(host.parked), host.delay_seconds) == ("", fetcher.loop.context.politeness.delay_seconds)
    assert host.next_seconds > 0


@pytest.mark.parametrize(("failure", "is_parked"), [(WorkerStopped(), False), (FetchFailed(ReasonKind.TIMEOUT), True)])
async def test_a_worker_that_was_stopped_parks_no_host_for_its_robots_txt(fetcher, frontier, web, failure, is_parked):
    work = replace(fetcher.loop.context, robots=RobotsCache(frontier, token="Thresher"))
    fetcher, web.result = Fetcher(work, LeaseLoop(work), web.fetch), failure
    [lease] = await fetcher.loop.acquire_leases()
    request = await fetcher.loop.request(lease)
    assert request.is_robots
    await fetcher.fetch(request)
    assert (await frontier.find(URL)).state == "waiting"
    assert bool((await frontier.find_host(lease.host)).parked) == is_parked
    assert await work.robots.knows(request.url) == is_parked


async def test_requests_of_one_moment_are_reported_in_one_call_for_which_nobody_waits(fetcher, frontier, monkeypatch):
    await frontier.add([Candidate(url=f"http://{name}.example/", score=1.0) for name in "bcd"])
    calls, may_answer = [], asyncio.Event()

    async def begin(leases):
        calls.append({lease.url for lease in leases})
        await may_answer.wait()

    monkeypatch.setattr(frontier, "begin", begin)
    first, second, third, settled = await fetcher.loop.acquire_leases()
    for lease in (first, second):
        fetcher.loop.report_sent(lease)
    await until(lambda: calls)
    for lease in (third, settled):
        fetcher.loop.report_sent(lease)
    await fetcher.loop.settle(settled, frontier.release([settled]))
    may_answer.set()
    await until(lambda: len(calls) == 2)
    assert calls == [{first.url, second.url}, {third.url}]


async def test_a_report_that_the_store_refuses_ends_nothing(fetcher, frontier, monkeypatch, caplog):
    async def refuse(leases):
        raise StoreError("refused")

    monkeypatch.setattr(frontier, "begin", refuse)
    [lease] = await fetcher.loop.acquire_leases()
    fetcher.loop.report_sent(lease)
    await until(lambda: "cannot report requests" in caplog.text)
    await fetcher.fetch(await fetcher.loop.request(lease))
    assert (await frontier.find(URL)).state == "done"


async def test_a_worker_that_leaves_does_not_wait_for_its_reports(fetcher, frontier, monkeypatch):
    called = asyncio.Event()

    async def begin(leases):
        called.set()
        await asyncio.sleep(60)

    monkeypatch.setattr(frontier, "begin", begin)
    [lease] = await fetcher.loop.acquire_leases()
    fetcher.loop.report_sent(lease)
    await called.wait()
    await asyncio.wait_for(fetcher.loop.release_all(), 1)
    assert (await frontier.find(URL)).state == "waiting"


async def test_pages_are_fetched_until_nothing_more_can_come(fetcher, frontier, web):
    await asyncio.wait_for(fetcher.run(), 10)
    assert (web.asked, fetcher.pages) == ([URL], 1)
    assert (await frontier.find(URL)).state == "done"


async def test_a_drain_finishes_what_is_open_and_takes_no_more(fetcher, frontier, web):
    web.may_answer.clear()
    run = asyncio.create_task(fetcher.run())
    await until(lambda: web.asked)
    await frontier.add([Candidate(url="http://b.example/", score=1.0)])
    fetcher.drain()
    web.may_answer.set()
    await asyncio.wait_for(run, 10)
    assert (web.asked, fetcher.pages, fetcher.loop.open) == ([URL], 1, {})


async def test_a_worker_that_leaves_at_once_keeps_its_leases_open_to_be_released(fetcher, frontier, web):
    web.may_answer.clear()
    run = asyncio.create_task(fetcher.run())
    await until(lambda: web.asked)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert [lease.url for lease in fetcher.loop.open.values()] == [URL]
    await fetcher.loop.release_all()
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)


async def test_a_store_that_fails_while_a_page_is_settled_drains_the_worker(fetcher, frontier, monkeypatch):
    async def refuse(*_, **__):
        raise StoreError("refused")

    monkeypatch.setattr(frontier, "commit", refuse)
    await asyncio.wait_for(fetcher.run(), 10)
    assert isinstance(fetcher.loop.fatal, StoreError)
    assert fetcher.is_draining


async def until(condition):
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_store_that_refuses_ends_the_worker_with_an_error(fetcher, frontier, monkeypatch):
    async def refuse(*_, **__):
        raise StoreError("refused")

    monkeypatch.setattr(frontier, "lease", refuse)
    await asyncio.wait_for(fetcher.run(), 10)
    assert isinstance(fetcher.loop.fatal, StoreError)


class Sight:
    """Stands for a browser: has places or none, and gives the set answer for each page."""

    seconds = 5.0

    def __init__(self, *, places=True, says=None):
        self.places, self.says, self.freed = places, says, []

    async def may_begin(self, lease):
        return self.places

    async def render_if_needed(self, lease, page, *, until):
        self.until = until
        return replace(page, body=b"<p>solar", rendered=True) if self.says == "made" else self.says

    def free(self, lease):
        self.freed.append(lease.fence)


def with_browser(fetcher, browser):
    context = replace(fetcher.loop.context, browser=browser, lease_seconds=60.0)
    return Fetcher(context, LeaseLoop(context), fetcher._fetch)


async def fetched(fetcher):
    [lease] = await fetcher.loop.acquire_leases()
    await fetcher.fetch(await fetcher.loop.request(lease))
    return lease


async def test_a_fetch_leaves_time_for_its_page_to_be_rendered(fetcher):
    fetcher = with_browser(fetcher, Sight(says="made"))
    before = time.monotonic()
    [lease] = await fetcher.loop.acquire_leases()
    latest = before + 60 - TIMEOUT_SECONDS - Sight.seconds - MARGIN_SECONDS
    assert fetcher.loop.start_by(lease) == pytest.approx(latest, abs=1.0)


async def test_a_rendered_page_goes_down_the_line(fetcher, frontier):
    browser = Sight(says="made")
    lease = await fetched(with_browser(fetcher, browser))
    entry = await frontier.find(URL)
    assert (entry.state, str(entry.reason)) == ("done", "through a browser")
    assert browser.freed == [lease.fence]
    assert browser.until <= time.monotonic() + 60 - MARGIN_SECONDS


async def test_a_host_without_a_place_in_the_browser_is_not_asked(fetcher, frontier):
    fetcher = with_browser(fetcher, Sight(places=False))
    [lease] = await fetcher.loop.acquire_leases()
    assert await fetcher.loop.request(lease) is None
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)


async def test_a_page_whose_browser_died_is_tried_again(fetcher, frontier):
    browser = Sight(says=Reason(ReasonKind.BROWSER))
    lease = await fetched(with_browser(fetcher, browser))
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries, browser.freed) == ("waiting", 1, [lease.fence])


async def test_a_page_that_cannot_be_seen_now_goes_back(fetcher, frontier):
    await fetched(with_browser(fetcher, Sight(says=None)))
    entry = await frontier.find(URL)
    assert (entry.state, entry.tries) == ("waiting", 0)
