"""A look at a frontier in a store: what its users see, samples, and nothing that changes it."""

import pytest

from thresher.frontier.redis.inspect import RedisFrontierReader
from thresher.reasons.legacy import legacy_reason
from thresher.records import Candidate, Outcome, Settlement


@pytest.fixture
def look(frontier):
    return RedisFrontierReader(frontier)


def candidates(number, hosts=5):
    return [
        Candidate(url=f"https://h{place % hosts}.example/{place}", score=place / number, parent=7)
        for place in range(number)
    ]


async def test_it_sees_what_the_frontier_says(frontier, look):
    await frontier.add(candidates(50))
    leases = await frontier.lease(3, seconds=60)
    await frontier.commit([Settlement(lease=leases[0], outcome=Outcome.DONE, page=True, delay_seconds=9.0)])
    await frontier.park("h0.example", legacy_reason("too slow"))
    await frontier.put_state("h1.example", "kind", "value", seconds=60)
    assert await look.counts() == await frontier.counts()
    assert await look.peek(10) == await frontier.peek(10)
    assert await look.find(leases[0].url) == await frontier.find(leases[0].url)
    assert [host.host for host in await look.hosts()] == [host.host for host in await frontier.hosts()]
    assert [(host.host, str(host.parked)) for host in await look.hosts(parked=True)] == [("h0.example", "too slow")]
    assert await look.get_state("h1.example", "kind") == "value"
    assert await look.get_states([("h1.example", "kind"), ("h1.example", "other")]) == ["value", None]


async def test_a_sample_stands_for_all_that_waits(frontier, look):
    big = [Candidate(url=f"http://big{place % 3}.example/{place}", score=0.9) for place in range(3000)]
    small = [Candidate(url=f"http://s{place % 50}.example/{place}", score=0.1) for place in range(1000)]
    await frontier.add([*big, *small])
    sample = await look.sample(2000)
    assert not sample.whole
    assert sum(weight for _, weight in sample.scores) == pytest.approx(4000)
    assert sum(weight for score, weight in sample.scores if score > 0.5) == pytest.approx(3000)


async def test_delayed_and_parked_hosts_are_part_of_it(frontier, look):
    await frontier.add(candidates(30, hosts=3))
    [lease] = await frontier.lease(1, seconds=60)
    await frontier.commit([Settlement(lease=lease, outcome=Outcome.DONE, page=True, delay_seconds=99.0)])
    await frontier.park("h0.example", legacy_reason("too slow"))
    sample = await look.sample(400)
    assert sum(weight for _, weight in sample.scores) == pytest.approx(29)


async def test_an_empty_queue_has_an_empty_sample(look):
    assert list((await look.sample(100)).scores) == []
    assert await look.hosts(parked=True) == []
