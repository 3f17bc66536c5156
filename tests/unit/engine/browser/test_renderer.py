"""Only hosts that need it are rendered: those that are listed, and those that were noticed, by all workers."""

import time
from dataclasses import replace

import pytest

from testing.block_pages import walls
from thresher.config.schema import CrawlConfig
from thresher.engine.browser import renderer
from thresher.engine.browser.chromium import BrowserGone
from thresher.engine.browser.renderer import DIED, STATE_KIND, Renderer
from thresher.politeness.robots import RobotsCache
from thresher.records import FetchedPage, Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

SHELL = b"<!doctype html><title>App</title><body><div id=root></div><script src=/app.js></script>"
MADE = b"<!doctype html><title>App</title><body><p>" + b"perovskite solar cells " * 20
PLAIN = b"<!doctype html><title>Page</title><body><p>" + b"all is said " * 40


def lease(host="a.example", fence=1, path="/"):
    return Lease(url=f"http://{host}{path}", host=host, score=1.0, fence=fence, until=0.0)


def page(body=SHELL, url="http://a.example/", status=200, kind="text/html", **headers):
    return FetchedPage(
        url=url,
        status=status,
        headers={"content-type": kind, **headers},
        body=body,
        fetched_at=0.0,
        elapsed_seconds=0.1,
    )


class Sight(Renderer):
    """Renders without a browser: what a page is made into is set beforehand."""

    def __init__(self, browser, frontier=None, robots=None, made=MADE):
        super().__init__(CrawlConfig(browser=browser), frontier or MemoryFrontier(), robots)
        self.made = made
        self.seen = []

    async def _render(self, page, seconds):
        self.seen.append(page.url)
        if isinstance(self.made, Exception):
            raise self.made
        return replace(page, body=self.made, rendered=True)

    async def look(self, page_=None, lease_=None, seconds=60.0):
        return await self.render_if_needed(lease_ or lease(), page_ or page(), until=time.monotonic() + seconds)


LISTED, DETECTING = {"hosts": ["a.example", "*.b.example"], "detect": False}, {"detect": True}


def sight(browser, **more):
    return Sight(CrawlConfig.model_validate({"browser": browser}).browser, **more)


async def test_a_listed_host_is_rendered_whatever_it_says():
    assert (await sight(LISTED).look(page(PLAIN))).rendered


@pytest.mark.parametrize("host", ["c.example", "aa.example"])
async def test_other_hosts_are_not(host):
    looking = sight(LISTED)
    seen = await looking.look(page(SHELL), lease(host))
    assert not seen.rendered
    assert looking.seen == []


async def test_patterns_stand_for_hosts_below_and_ports_do_not_matter():
    assert (await sight(LISTED).look(page(), lease("www.b.example:8080"))).rendered


@pytest.mark.parametrize(
    "other",
    [
        page(status=301, location="http://a.example/b"),
        page(status=404),
        page(status=503),
        page(status=304),
        page(kind="application/pdf"),
        page(kind="text/plain"),
    ],
)
async def test_only_markup_is_rendered(other):
    looking = sight(LISTED)
    assert await looking.look(other) is other
    assert looking.seen == []


async def test_a_host_is_noticed_by_a_page_that_says_more_with_its_scripts():
    frontier = MemoryFrontier()
    assert (await sight(DETECTING, frontier=frontier).look()).rendered
    assert await frontier.get_state("a.example", STATE_KIND) == "needed"


async def test_what_one_worker_noticed_holds_for_all_pages_of_the_host_and_for_other_workers():
    frontier = MemoryFrontier()
    await sight(DETECTING, frontier=frontier).look()
    assert (await sight(DETECTING, frontier=frontier).look(page(PLAIN))).rendered


async def test_a_page_that_says_no_more_with_its_scripts_is_kept_as_it_came_and_its_host_left_alone():
    looking = sight(DETECTING, made=SHELL)
    assert not (await looking.look()).rendered
    assert not (await looking.look()).rendered
    assert len(looking.seen) == 1


async def test_a_page_that_says_something_is_no_reason_to_notice_its_host():
    frontier = MemoryFrontier()
    looking = sight(DETECTING, frontier=frontier)
    assert not (await looking.look(page(PLAIN))).rendered
    assert await frontier.get_state("a.example", STATE_KIND) is None


async def test_nothing_is_noticed_unless_the_user_wants_it():
    looking = sight(LISTED)
    assert not (await looking.look(page(), lease("c.example"))).rendered


async def test_hosts_are_noticed_by_default():
    assert (await sight({}).look(page(), lease("c.example"))).rendered


async def test_a_challenge_is_not_rendered():
    looking = sight(LISTED)
    challenge = page(walls()[0].html.encode())
    assert await looking.look(challenge) is challenge
    assert looking.seen == []


async def test_a_host_that_needs_a_place_waits_for_one_before_it_is_asked():
    looking = sight({**LISTED, "pages_at_once": 1})
    assert await looking.may_begin(lease(fence=1))
    assert not await looking.may_begin(lease(fence=2))
    assert await looking.may_begin(lease("c.example", fence=3))
    looking.free(lease(fence=1))
    assert await looking.may_begin(lease(fence=2))


async def test_a_page_that_turns_out_to_need_a_place_comes_again_when_there_is_none():
    looking = sight({**DETECTING, "hosts": ["b.example"], "pages_at_once": 1})
    assert await looking.may_begin(lease("b.example", fence=1))
    assert await looking.look(page(), lease(fence=2)) is None
    looking.free(lease(fence=1))
    assert (await looking.look(page(), lease(fence=2))).rendered


async def test_a_page_is_not_begun_that_could_outlast_its_lease():
    looking = sight(LISTED)
    assert await looking.look(seconds=0.5) is None
    assert looking.seen == []


async def test_a_browser_that_dies_is_reported():
    assert await sight(LISTED, made=BrowserGone("killed")).look() == DIED


async def test_rules_hold_for_what_a_page_loads_where_they_are_known():
    robots_cache = RobotsCache(MemoryFrontier(), token="Thresher")
    await robots_cache.learn("http://a.example/robots.txt", 200, b"User-agent: *\nDisallow: /api/")
    looking = sight(LISTED, robots=robots_cache)
    assert await looking._allowed("http://a.example/app.js")
    assert not await looking._allowed("http://a.example/api/1")
    assert await looking._allowed("http://cdn.example/framework.js")


def test_a_rendered_page_is_distinguished_from_the_answer_that_it_was_made_of():
    answer = replace(page(etag='"1"', server="s"), header_lines=[("ETag", '"1"'), ("Server", "s")])
    made = renderer._with_result(answer, renderer.RenderResult(body=MADE, cut=True), seconds=2.0)
    assert (made.body, made.rendered, made.truncated, made.elapsed_seconds) == (MADE, True, True, 2.1)
    assert made.headers == {"server": "s", "content-type": "text/html; charset=utf-8"}
    assert dict(made.header_lines).keys() == {"Server", "Content-Type", "X-Thresher-Rendered"}


async def test_without_a_guard_nothing_is_dialled():
    assert await sight(LISTED)._resolve_endpoints("a.example", 80) == ((), "no guard")
