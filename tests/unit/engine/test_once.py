"""What is fetched once comes back as a page or as a reason, and only redirects lead on."""

import pytest

from thresher.engine.once import Catch, Interrupted
from thresher.line import MAX_REDIRECTS, Rules
from thresher.records import FetchedPage
from thresher.urls.scope import Scope

PAGE = "http://a.example/"
OTHER = "http://b.example/"


@pytest.fixture
def catch():
    return Catch(Rules(scope=Scope(deny_hosts=("*.denied.example",), max_depth=3)))


async def answer_next(catch, status=200, **headers):
    """Lease the next URL and answer it; return it."""
    [lease] = await catch.frontier.lease(1, seconds=60)
    headers = {"content-type": "text/html", **{name.replace("_", "-"): value for name, value in headers.items()}}
    page = FetchedPage(url=lease.url, status=status, headers=headers, body=b"text", fetched_at=0.0)
    await catch.process(lease, page)
    return lease.url


async def nothing_waits(catch):
    return (await catch.frontier.counts()).waiting == 0


async def test_a_page_comes_back_and_its_links_stay_where_they_are(catch):
    await catch.ask([PAGE])
    await answer_next(catch)
    page = await catch.answer(PAGE)
    assert (page.url, page.body) == (PAGE, b"text")
    assert await nothing_waits(catch)


async def test_an_answer_that_is_no_page_comes_back_as_its_reason(catch):
    await catch.ask([PAGE, OTHER])
    await answer_next(catch, status=404)
    await answer_next(catch, content_type="application/pdf")
    assert await catch.answer(PAGE) == "http 404"
    assert await catch.answer(OTHER) == "not a page: application/pdf"


async def test_a_busy_server_is_not_asked_again(catch):
    await catch.ask([PAGE])
    await answer_next(catch, status=503)
    assert await catch.answer(PAGE) == "http 503"
    assert await nothing_waits(catch)


async def test_a_failure_is_not_tried_again(catch):
    await catch.ask([PAGE])
    [lease] = await catch.frontier.lease(1, seconds=60)
    await catch.fail(lease, "timeout", at=0.0, retry=True)
    assert await catch.answer(PAGE) == "timeout"
    assert await nothing_waits(catch)


async def test_a_redirect_is_followed_through_the_queue(catch):
    await catch.ask([PAGE])
    await answer_next(catch, status=301, location=OTHER)
    assert await answer_next(catch) == OTHER
    assert (await catch.answer(PAGE)).url == OTHER


async def test_what_fails_behind_a_redirect_says_where(catch):
    await catch.ask([PAGE])
    await answer_next(catch, status=301, location=OTHER)
    await answer_next(catch, status=410)
    assert await catch.answer(PAGE) == f"redirected to {OTHER}: http 410"


async def test_two_urls_that_lead_to_one_page_both_get_it(catch):
    await catch.ask([PAGE, OTHER])
    await answer_next(catch, status=302, location=OTHER)
    await answer_next(catch)
    assert await catch.answer(PAGE) is await catch.answer(OTHER)


async def test_a_redirect_out_of_the_crawl_is_not_followed(catch):
    await catch.ask([PAGE])
    await answer_next(catch, status=301, location="http://x.denied.example/")
    assert await catch.answer(PAGE) == "redirected to http://x.denied.example/, outside the crawl: host denied"
    assert await nothing_waits(catch)


async def test_a_circle_of_redirects_ends(catch):
    await catch.ask([PAGE])
    await answer_next(catch, status=301, location=OTHER)
    await answer_next(catch, status=301, location=PAGE)
    assert await nothing_waits(catch)
    assert await catch.answer(PAGE) == "redirects in a circle"


async def test_a_chain_of_redirects_ends(catch):
    await catch.ask([PAGE])
    for number in range(MAX_REDIRECTS + 1):
        await answer_next(catch, status=301, location=f"{PAGE}{number}")
    assert await nothing_waits(catch)
    assert str(await catch.answer(PAGE)).endswith(f"more than {MAX_REDIRECTS} redirects")


async def test_a_url_outside_the_crawl_is_never_asked_for(catch):
    await catch.ask(["http://x.denied.example/"])
    assert await nothing_waits(catch)
    assert await catch.answer("http://x.denied.example/") == "outside the crawl: host denied"


async def test_a_host_that_is_left_alone_says_why(catch):
    await catch.ask([PAGE])
    [lease] = await catch.frontier.lease(1, seconds=60)
    await catch.frontier.park(lease.host, "robots.txt cannot be read", seconds=600)
    await catch.frontier.release([lease])
    assert await catch.answer(PAGE) == "robots.txt cannot be read"


async def test_the_delay_of_a_host_is_kept(catch):
    await catch.ask([PAGE, f"{PAGE}two"])
    [lease] = await catch.frontier.lease(2, seconds=60)
    page = FetchedPage(url=lease.url, status=200, headers={}, body=b"", fetched_at=0.0)
    await catch.process(lease, page, delay_seconds=7.0)
    assert await catch.frontier.lease(1, seconds=60) == []
    assert 6.0 < await catch.frontier.seconds_to_next() <= 7.0


async def test_what_was_never_answered_was_interrupted(catch):
    await catch.ask([PAGE])
    with pytest.raises(Interrupted):
        await catch.answer(PAGE)
