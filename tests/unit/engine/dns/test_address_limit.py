"""One server behind many names is asked one thing at a time, and nobody waits for longer than it may take."""

import pytest

from thresher.engine.dns.address_limit import MAX_WAIT_SECONDS, AddressLimiter
from thresher.records import Lease
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


def lease(number):
    return Lease(url=f"http://{number}.example/", host=f"{number}.example", score=0.0, fence=number, until=0.0)


class OneAddress:
    """Every name has the same address."""

    async def first_address(self, url):
        return "192.0.2.1"


@pytest.fixture
def gate():
    return AddressLimiter(MemoryFrontier(), OneAddress(), seconds=60.0)


async def test_who_finds_somebody_there_asks_again_long_before_a_lease_is_over(gate):
    assert await gate.acquire_lock(lease(1)) == 0.0
    assert await gate.acquire_lock(lease(2)) == MAX_WAIT_SECONDS


async def test_after_somebody_has_left_the_delay_is_waited_for(gate):
    await gate.acquire_lock(lease(1))
    await gate.release_lock(lease(1), delay_seconds=0.5)
    assert 0.0 < await gate.acquire_lock(lease(2)) <= 0.5
