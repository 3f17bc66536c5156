"""A host may give few pages at first, more with every relevant one, and never more than the most."""

import pytest

from thresher.politeness.host_budget import HostBudget, over_budget, release
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

BUDGET = HostBudget(most=1000, first=50, per_relevant=20)


@pytest.mark.parametrize(
    ("pages", "relevant", "words"),
    [
        (49, 0, ""),
        (50, 0, "gave 50 pages, none of them relevant"),
        (50, 1, ""),
        (69, 1, ""),
        (70, 1, "gave 70 pages, 1 of them relevant"),
        (999, 50, ""),  # 5 in 100 is harvest enough
        (999, 47, "gave 999 pages, 47 of them relevant"),
        (1000, 999, "gave 1000 pages, its budget"),
    ],
)
def test_a_budget_grows_with_the_harvest(pages, relevant, words):
    assert str(BUDGET.exhausted_reason(pages, relevant)) == words


def test_without_a_first_budget_only_the_most_counts():
    assert not HostBudget(most=100).exhausted_reason(99, 0)
    assert str(HostBudget(most=100).exhausted_reason(100, 0)) == "gave 100 pages, its budget"


def lease(pages, relevant=0):
    return Lease(
        url="http://a.example/", host="a.example", score=0, fence=1, until=1, host_pages=pages, host_relevant=relevant
    )


async def test_the_page_at_hand_counts():
    frontier = MemoryFrontier()
    assert await over_budget(BUDGET, lease(49), relevant=False, frontier=frontier)
    assert not await over_budget(BUDGET, lease(49), relevant=True, frontier=frontier)


async def test_a_released_host_has_a_fresh_budget():
    frontier = MemoryFrontier()
    await frontier.add([Candidate(url="http://a.example/", score=0)])
    await frontier.park("a.example", legacy_reason("gave 50 pages, none of them relevant"))
    assert await release(frontier, "a.example")
    assert await frontier.lease(1, seconds=60)
    assert not await release(frontier, "a.example")  # it is not parked any more
    assert not await release(frontier, "b.example")


async def test_the_fresh_budget_counts_from_the_release():
    frontier = MemoryFrontier()
    await frontier.put_state("a.example", "released", "[50, 0]", seconds=60)
    assert not await over_budget(BUDGET, lease(98), relevant=False, frontier=frontier)
    assert await over_budget(BUDGET, lease(99), relevant=False, frontier=frontier)
