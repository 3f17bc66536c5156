"""Hosts as people see them and care for them."""

import pytest

from thresher.errors import ConfigError
from thresher.operations.hosts import block, block_pages, host_json, left_parts, release
from thresher.records import BlockKind, Candidate, Outcome, Settlement
from thresher.traps.detector import FIRST_PAGES, LEFT
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


@pytest.fixture
async def frontier():
    frontier = MemoryFrontier()
    await frontier.add([Candidate(url=f"http://a.example/{place}", score=0.5) for place in range(FIRST_PAGES + 2)])
    for place in range(FIRST_PAGES):
        leases = await frontier.lease(1, seconds=60)
        await frontier.commit([Settlement(lease=leases[0], outcome=Outcome.DONE, page=True, relevant=place == 0)])
    return frontier


async def test_a_host_is_shown_with_its_harvest_and_what_is_left_alone(frontier):
    await frontier.put_state("a.example", LEFT, '{"/x": "a trap"}', seconds=60)
    [entry] = await frontier.hosts()
    left = await left_parts(frontier, [entry])
    shown = host_json(entry, left["a.example"], {"login": 2})
    assert shown["harvest_rate"] == pytest.approx(1 / FIRST_PAGES)
    assert shown["left_alone"] == {"/x": "a trap"}
    assert shown["blocked"] == {"login": 2}


async def test_block_pages_are_counted_by_host_and_kind(frontier):
    for kind in (BlockKind.LOGIN, BlockKind.LOGIN):
        [lease] = await frontier.lease(1, seconds=60)
        await frontier.commit([Settlement(lease=lease, outcome=Outcome.FAILED, reason=kind.reason)])
    assert await block_pages(frontier) == {"a.example": {"login": 2}}


async def test_a_blocked_host_is_asked_no_more_until_it_is_released(frontier):
    await block(frontier, "a.example", "mine")
    [entry] = await frontier.hosts()
    assert str(entry.parked) == "blocked by hand: mine"
    assert await frontier.lease(1, seconds=60) == []
    await release(frontier, "a.example")
    assert len(await frontier.lease(1, seconds=60)) == 1


async def test_a_host_that_was_never_seen_can_be_blocked(frontier):
    await block(frontier, "b.example")
    await frontier.add([Candidate(url="http://b.example/", score=1.0)])
    assert [lease.host for lease in await frontier.lease(5, seconds=60)] == ["a.example"]


async def test_parts_that_were_left_alone_are_released_too(frontier):
    await frontier.put_state("a.example", LEFT, '{"/x": "a trap"}', seconds=60)
    await release(frontier, "a.example")
    assert (await left_parts(frontier, await frontier.hosts())).get("a.example", {}) == {}


async def test_who_is_not_parked_cannot_be_released(frontier):
    with pytest.raises(ConfigError, match="not parked"):
        await release(frontier, "a.example")
