"""What is fetched once comes back as a page or as a reason, and only redirects lead on."""

import logging

import pytest

from thresher.crawl import CrawlSetup
from thresher.pipeline.outcomes import MAX_REDIRECTS, PipelineRules
from thresher.reasons.legacy import legacy_reason
from thresher.reasons.reason import Reason, ReasonKind
from thresher.records import FetchedPage
from thresher.runner import fetch_once
from thresher.runner.fetch_once import Interrupted, ResponseCollector
from thresher.urls.scope import UrlScope

PAGE = "http://a.example/"
OTHER = "http://b.example/"


@pytest.fixture
async def collector():
    collector = ResponseCollector(PipelineRules(scope=UrlScope(deny_hosts=("*.denied.example",), max_depth=3)))
    yield collector
    await collector.frontier.close()


async def answer_next(collector, status=200, **headers):
    """Lease the next URL and answer it; return it."""
    [lease] = await collector.frontier.lease(1, seconds=60)
    headers = {"content-type": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
    page = FetchedPage(url=lease.url, status=status, headers=headers, body=b"text", fetched_at=0.0)
    await collector.process(lease, page)
    return lease.url


async def nothing_waits(collector):
    return (await collector.frontier.counts()).waiting == 0


async def test_a_page_comes_back_and_its_links_stay_where_they_are(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector)
    page = await collector.result(PAGE)
    assert (page.url, page.body) == (PAGE, b"text")
    assert await nothing_waits(collector)


async def test_an_answer_that_is_no_page_comes_back_as_its_reason(collector):
    await collector.enqueue([PAGE, OTHER])
    await answer_next(collector, status=404)
    await answer_next(collector, content_type="application/pdf")
    assert str(await collector.result(PAGE)) == "http 404"
    assert str(await collector.result(OTHER)) == "not a page: application/pdf"


async def test_a_busy_server_is_not_asked_again(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector, status=503)
    assert str(await collector.result(PAGE)) == "http 503"
    assert await nothing_waits(collector)


async def test_a_failure_is_not_tried_again(collector):
    await collector.enqueue([PAGE])
    [lease] = await collector.frontier.lease(1, seconds=60)
    await collector.fail(lease, Reason(ReasonKind.TIMEOUT), at=0.0, retry=True)
    assert str(await collector.result(PAGE)) == "timeout"
    assert await nothing_waits(collector)


async def test_a_redirect_is_followed_through_the_queue(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector, status=301, location=OTHER)
    assert await answer_next(collector) == OTHER
    assert (await collector.result(PAGE)).url == OTHER


async def test_what_fails_behind_a_redirect_says_where(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector, status=301, location=OTHER)
    await answer_next(collector, status=410)
    assert str(await collector.result(PAGE)) == f"redirected to {OTHER}: http 410"


async def test_two_urls_that_lead_to_one_page_both_get_it(collector):
    await collector.enqueue([PAGE, OTHER])
    await answer_next(collector, status=302, location=OTHER)
    await answer_next(collector)
    assert await collector.result(PAGE) is await collector.result(OTHER)


async def test_a_redirect_out_of_the_crawl_is_not_followed(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector, status=301, location="http://x.denied.example/")
    assert str(await collector.result(PAGE)) == "redirected to http://x.denied.example/, outside the crawl: host denied"
    assert await nothing_waits(collector)


async def test_a_circle_of_redirects_ends(collector):
    await collector.enqueue([PAGE])
    await answer_next(collector, status=301, location=OTHER)
    await answer_next(collector, status=301, location=PAGE)
    assert await nothing_waits(collector)
    assert str(await collector.result(PAGE)) == "redirects in a circle"


async def test_a_chain_of_redirects_ends(collector):
    await collector.enqueue([PAGE])
    for number in range(MAX_REDIRECTS + 1):
        await answer_next(collector, status=301, location=f"{PAGE}{number}")
    assert await nothing_waits(collector)
    assert str(await collector.result(PAGE)).endswith(f"more than {MAX_REDIRECTS} redirects")


async def test_a_url_outside_the_crawl_is_never_asked_for(collector):
    await collector.enqueue(["http://x.denied.example/"])
    assert await nothing_waits(collector)
    assert str(await collector.result("http://x.denied.example/")) == "outside the crawl: host denied"


async def test_a_host_that_is_left_alone_says_why(collector):
    await collector.enqueue([PAGE])
    [lease] = await collector.frontier.lease(1, seconds=60)
    await collector.frontier.park(lease.host, legacy_reason("robots.txt cannot be read"), seconds=600)
    await collector.frontier.release([lease])
    assert str(await collector.result(PAGE)) == "robots.txt cannot be read"


async def test_the_delay_of_a_host_is_kept(collector):
    await collector.enqueue([PAGE, f"{PAGE}two"])
    [lease] = await collector.frontier.lease(2, seconds=60)
    page = FetchedPage(url=lease.url, status=200, headers={}, body=b"", fetched_at=0.0)
    await collector.process(lease, page, delay_seconds=7.0)
    assert await collector.frontier.lease(1, seconds=60) == []
    assert 6.0 < await collector.frontier.seconds_to_next() <= 7.0


async def test_what_was_never_answered_was_interrupted(collector):
    await collector.enqueue([PAGE])
    with pytest.raises(Interrupted):
        await collector.result(PAGE)


def test_only_the_crawler_logs_less_and_only_for_a_while(tmp_path, monkeypatch):
    (tmp_path / "topic.yaml").write_text('title: {en: solar}\nseeds: ["http://a.example/"]\n', encoding="utf-8")
    names, levels = ("thresher", ""), []

    def interrupted(crawl, work):
        levels.append([logging.getLogger(name).level for name in names])
        raise Interrupted

    monkeypatch.setattr(fetch_once, "run_worker", interrupted)
    before = [logging.getLogger(name).level for name in names]
    with pytest.raises(Interrupted):
        fetch_once.fetch_once(CrawlSetup.open(tmp_path), [PAGE])
    assert levels == [[logging.ERROR, before[1]]]
    assert [logging.getLogger(name).level for name in names] == before
