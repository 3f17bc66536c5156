"""The audit of a virtual crawl finds what is wrong."""

import pytest

from thresher.records import Candidate, Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.virtual_workers import PolitenessAudit


def lease(fence, *, host="a.example", until=100.0, score=0.5):
    return Lease(url=f"http://{host}/{fence}", host=host, score=score, fence=fence, until=until)


@pytest.fixture
def manners():
    return PolitenessAudit(delay_seconds=5.0, workers=2)


def test_a_host_that_is_left_alone_is_no_fault(manners):
    manners.leased([first := lease(1)], 0.0, None)
    manners.settled(first, 1.0)
    manners.leased([lease(2)], 6.0, None)
    assert (manners.crowded, manners.hasty, manners.least_gap) == (0, 0, 5.0)


def test_two_open_leases_of_a_host_are_seen(manners):
    manners.leased([lease(1), lease(2)], 0.0, None)
    assert manners.crowded == 1


def test_a_lease_before_the_delay_is_over_is_seen(manners):
    manners.leased([first := lease(1)], 0.0, None)
    manners.settled(first, 1.0)
    manners.leased([lease(2)], 5.9, None)
    assert manners.hasty == 1


def test_a_lease_that_ran_out_ended_at_its_end(manners):
    manners.leased([late := lease(1, until=10.0)], 0.0, None)
    manners.settled(late, 14.0)
    manners.leased([lease(2)], 15.0, None)
    assert (manners.expired, manners.crowded, manners.least_gap) == (1, 0, 5.0)


async def test_leases_are_held_against_the_best_that_may_be_asked(manners):
    frontier = MemoryFrontier(clock=lambda: 0.0)
    urls = {"a.example": 0.9, "b.example": 0.8, "c.example": 0.7, "d.example": 0.6}
    await frontier.add([Candidate(url=f"http://{host}/", score=score) for host, score in urls.items()])
    scores = await manners.scores(frontier, 0.0)
    assert scores == [0.9, 0.8, 0.7, 0.6]
    manners.leased([lease(1, host="a.example", score=0.9), lease(2, host="d.example", score=0.6)], 0.0, scores)
    assert (manners.looked, manners.best, manners.near_best) == (2, 1, 1)
    assert await manners.scores(frontier, 0.5) is None


def test_busy_hosts_are_averaged_over_time(manners):
    manners.busy_hosts += [(0.0, 10), (1.0, 20), (4.0, 0)]
    assert manners.mean_busy_hosts() == pytest.approx((1 * 10 + 3 * 20) / 4)
