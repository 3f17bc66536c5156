"""A host that says it is asked too often is asked ever more rarely, over all its URLs and all workers."""

import pytest

from testing.clock import Clock
from thresher.parsing.response import ResponseClass, ResponseKind
from thresher.pipeline.pipeline import Backoff
from thresher.reasons.legacy import legacy_reason
from thresher.records import BlockKind, Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

DAY = 24 * 3600.0


@pytest.fixture
def frontier():
    return MemoryFrontier(clock=Clock())


def busy(status=429, wait_seconds=0.0):
    return ResponseClass(kind=ResponseKind.BUSY, reason=legacy_reason(f"http {status}"), wait_seconds=wait_seconds)


def lease(pages=3, number=1):
    return Lease(
        url=f"http://a.example/{number}", host="a.example", score=0.0, fence=number, until=0.0, host_pages=pages
    )


async def parked(frontier):
    return {host.host: (str(host.parked), host.next_seconds) for host in await frontier.hosts() if host.parked}


async def test_the_pause_doubles_whichever_url_and_worker_is_refused(frontier):
    pauses = [await Backoff(frontier).pause_host(lease(number=number), busy()) for number in range(1, 5)]
    assert pauses == [10.0, 20.0, 40.0, 80.0]
    assert await parked(frontier) == {}


async def test_the_fifth_in_a_row_parks_the_host_for_an_hour_and_the_sixth_for_two(frontier):
    backoff = Backoff(frontier)
    for _ in range(5):
        await backoff.pause_host(lease(), busy(503))
    assert await parked(frontier) == {"a.example": ("http 503, 5 times in a row", 3600.0)}
    await backoff.pause_host(lease(), busy(503))
    assert await parked(frontier) == {"a.example": ("http 503, 6 times in a row", 7200.0)}


async def test_a_host_is_never_parked_for_more_than_a_day_for_being_busy(frontier):
    for _ in range(60):
        await Backoff(frontier).pause_host(lease(), busy())
    assert await parked(frontier) == {"a.example": ("http 429, 60 times in a row", DAY)}


async def test_a_page_in_between_starts_the_count_anew(frontier):
    backoff = Backoff(frontier)
    await backoff.pause_host(lease(pages=3), busy())
    await backoff.pause_host(lease(pages=3), busy())
    assert await backoff.pause_host(lease(pages=4), busy()) == 10.0


async def test_other_failures_of_a_server_are_counted_by_url_and_not_here(frontier):
    pauses = [await Backoff(frontier).pause_host(lease(), busy(500)) for _ in range(6)]
    assert pauses == [10.0] * 6


async def test_what_a_host_asks_for_is_kept_and_shown_when_it_is_long(frontier):
    backoff = Backoff(frontier)
    assert await backoff.pause_host(lease(), busy(wait_seconds=120)) == 120
    assert await parked(frontier) == {}
    await backoff.pause_host(lease(), busy(wait_seconds=7200))
    assert await parked(frontier) == {"a.example": ("http 429, asks for 2 hours of rest", 7200.0)}


async def test_a_host_that_asks_for_more_than_a_day_is_left_alone(frontier):
    await Backoff(frontier).pause_host(lease(), busy(wait_seconds=30 * DAY))
    assert await parked(frontier) == {"a.example": ("http 429, asks for 30 days of rest", 0.0)}


async def test_a_block_page_doubles_the_delay_of_its_host_and_each_further_one_doubles_it_again(frontier):
    kind = BlockKind.CONSENT
    pauses = [await Backoff(frontier).pause_blocking_host(lease(number=number), kind, 2.0) for number in range(1, 5)]
    assert pauses == [4.0, 8.0, 16.0, 32.0]
    assert await parked(frontier) == {}


async def test_the_fifth_block_page_in_a_row_parks_the_host_for_at_most_a_day(frontier):
    for _ in range(5):
        await Backoff(frontier).pause_blocking_host(lease(), BlockKind.LOGIN, 2.0)
    assert await parked(frontier) == {"a.example": ("blocked: login wall, 5 times in a row", 3600.0)}
    for _ in range(55):
        await Backoff(frontier).pause_blocking_host(lease(), BlockKind.LOGIN, 2.0)
    assert await parked(frontier) == {"a.example": ("blocked: login wall, 60 times in a row", DAY)}


async def test_a_page_between_block_pages_starts_the_count_anew_and_busy_answers_are_counted_apart(frontier):
    backoff = Backoff(frontier)
    await backoff.pause_blocking_host(lease(pages=3), BlockKind.ERROR, 2.0)
    await backoff.pause_host(lease(pages=3), busy())
    assert await backoff.pause_blocking_host(lease(pages=4), BlockKind.ERROR, 2.0) == 4.0
