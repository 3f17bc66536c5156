"""Visits wait in a queue of their own; what they find goes home."""

import pytest

from thresher.frontier.base import UrlState
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, Settlement
from thresher.refresh.queue import RefreshFrontier, copy_host_delays
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

PAGE, KNOWN, NEW = "http://a.example/page", "http://a.example/known", "http://b.example/new"


@pytest.fixture
async def home(clock):
    home = MemoryFrontier(clock=clock)
    await home.add([Candidate(url=PAGE, score=1.0), Candidate(url=KNOWN, score=0.9)])
    for lease in [*await home.lease(1, seconds=9), *await home.lease(1, seconds=9)]:
        await home.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, content=5)])
    for lease in await home.lease(1, seconds=9):
        await home.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True)])
    return home


@pytest.fixture
async def refresh(home, clock):
    frontier = RefreshFrontier(MemoryFrontier(clock=clock), home)
    await frontier.add([Candidate(url=PAGE, score=0.5)])
    return frontier


async def visit(refresh, *links, **more):
    [lease] = await refresh.lease(1, seconds=60)
    found = [Candidate(url=link, score=0.7) for link in links]
    return await refresh.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, links=found, **more)])


async def test_a_page_that_is_done_at_home_is_visited_again(refresh):
    [lease] = await refresh.lease(1, seconds=60)
    assert lease.url == PAGE


async def test_links_wait_at_home_and_only_new_ones(refresh, home):
    assert await visit(refresh, KNOWN, NEW) == [True]
    assert [entry.url for entry in await home.peek(9)] == [NEW]
    assert (await home.find(KNOWN)).state is UrlState.DONE
    assert (await refresh.counts()).waiting == 0
    assert await refresh.seconds_to_next() is None


async def test_only_visits_are_counted(refresh):
    await visit(refresh, NEW, relevant=True)
    counts = await refresh.counts()
    assert (counts.pages, counts.relevant, counts.done) == (1, 1, 1)


async def test_copies_are_known_from_home(refresh):
    assert await refresh.content_owner(5)
    assert (await refresh.find(KNOWN)).state is UrlState.DONE


async def test_what_is_known_of_hosts_is_shared_with_home(refresh, home):
    await refresh.put_state("a.example", "robots", "rules", seconds=60)
    assert await home.get_state("a.example", "robots") == "rules"
    assert await refresh.get_state("a.example", "robots") == "rules"


async def test_a_host_rests_at_home_after_a_visit(refresh, home):
    await home.add([Candidate(url=f"{KNOWN}2", score=0.9)])
    await visit(refresh, delay_seconds=30.0)
    await copy_host_delays(refresh, home)
    assert await home.lease(1, seconds=9) == []
    assert await home.seconds_to_next() == pytest.approx(30.0, abs=1.0)


async def test_a_host_that_is_parked_at_home_stays_parked(refresh, home, clock):
    await home.add([Candidate(url=f"{KNOWN}2", score=0.9)])
    await home.park("a.example", legacy_reason("a trap"))
    await visit(refresh, delay_seconds=30.0)
    await copy_host_delays(refresh, home)
    clock.now += 60
    assert await home.lease(1, seconds=9) == []
