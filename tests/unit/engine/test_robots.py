"""robots.txt after RFC 9309: who may be asked for what, and for how long that is known."""

import pytest

from thresher.engine.robots import KEPT_SECONDS, UNREACHABLE_SECONDS, RobotsFile, RobotsKeeper, robots_url
from thresher.frontier.memory import MemoryFrontier

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n"


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def frontier(clock):
    return MemoryFrontier(clock=clock)


def keeper(frontier, clock):
    return RobotsKeeper(frontier, token="Thresher", clock=clock)


def test_rules_live_at_the_root_of_scheme_and_authority():
    assert robots_url("https://a.example:8443/b/c?d") == "https://a.example:8443/robots.txt"


async def test_rules_must_be_fetched_first(frontier, clock):
    assert await keeper(frontier, clock).file_for("http://a.example/") is None


async def test_rules_are_obeyed(frontier, clock):
    robots = keeper(frontier, clock)
    await robots.learn("http://a.example/x", 200, RULES)
    file = await robots.file_for("http://a.example/y")
    assert file.allows("http://a.example/public")
    assert not file.allows("http://a.example/private/1")
    assert file.crawl_delay_seconds == 3.0


async def test_http_and_https_have_rules_of_their_own(frontier, clock):
    robots = keeper(frontier, clock)
    await robots.learn("http://a.example/", 200, RULES)
    assert await robots.file_for("https://a.example/") is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 429])
async def test_a_client_error_means_there_are_no_rules(frontier, clock, status):
    file = await keeper(frontier, clock).learn("http://a.example/", status, b"User-agent: *\nDisallow: /\n")
    assert file.allows("http://a.example/private")


@pytest.mark.parametrize("status", [0, 500, 503, 599])
async def test_a_server_error_means_nothing_may_be_fetched(frontier, clock, status):
    file = await keeper(frontier, clock).learn("http://a.example/", status, b"User-agent: *\nAllow: /\n")
    assert file.unreachable
    assert not file.allows("http://a.example/")


async def test_what_one_worker_read_all_know(frontier, clock):
    await keeper(frontier, clock).learn("http://a.example/", 200, RULES)
    file = await keeper(frontier, clock).file_for("http://a.example/z")
    assert file is not None
    assert not file.allows("http://a.example/private")


async def test_rules_are_read_again_after_a_day(frontier, clock):
    robots = keeper(frontier, clock)
    await robots.learn("http://a.example/", 200, RULES)
    clock.now += KEPT_SECONDS - 1
    assert await robots.file_for("http://a.example/") is not None
    clock.now += 1
    assert await robots.file_for("http://a.example/") is None


async def test_an_unreachable_file_is_tried_again_sooner(frontier, clock):
    robots = keeper(frontier, clock)
    await robots.learn("http://a.example/", 503, b"")
    clock.now += UNREACHABLE_SECONDS
    assert await robots.file_for("http://a.example/") is None


def test_a_byte_order_mark_is_no_part_of_the_rules():
    file = RobotsFile(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /x".decode("utf-8-sig"), 0.0)
    assert not file.allows("http://a.example/x")


@pytest.mark.parametrize("text", ["\x00\x01\xff", "Crawl-delay: NaN", "User-agent: *\nCrawl-delay: -1", "a" * 100_000])
def test_garbage_neither_breaks_nor_delays(text):
    file = RobotsFile(200, text, 0.0)
    assert file.crawl_delay_seconds == 0.0
    assert file.allows("http://a.example/")
