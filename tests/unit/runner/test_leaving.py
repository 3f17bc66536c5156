"""A worker leaves in time, whatever is open and whether or not the store listens."""

import asyncio
import time

from thresher.errors import StoreUnreachable
from thresher.runner.shutdown import DRAIN_SECONDS, DrainTimer, run_with_timeout


class World:
    now = 0.0
    running = False
    stops = 0

    def __init__(self):
        self.leaving = DrainTimer(is_running=lambda: self.running, stop=self.stop, clock=lambda: self.now)

    def stop(self):
        self.stops += 1

    def check(self, now):
        self.now = now
        self.leaving.check()


def test_a_worker_that_has_not_begun_is_not_leaving():
    world = World()
    world.check(0)
    world.check(10 * DRAIN_SECONDS)
    assert (world.leaving.has_begun, world.stops) == (False, 0)


def test_what_is_open_may_finish_but_not_for_ever():
    world = World()
    world.running = True
    world.check(0)
    world.running = False
    world.check(100)
    assert world.leaving.has_begun
    world.check(100 + DRAIN_SECONDS - 1)
    assert world.stops == 0
    world.check(100 + DRAIN_SECONDS)
    assert world.stops == 1


async def test_a_store_that_does_not_listen_is_not_waited_for():
    began = time.monotonic()
    assert not await run_with_timeout(asyncio.sleep(60), seconds=0.05)
    assert time.monotonic() - began < 5


async def test_a_store_that_is_away_is_no_error_when_a_worker_leaves():
    async def tell():
        raise StoreUnreachable("gone")

    assert not await run_with_timeout(tell())
    assert await run_with_timeout(asyncio.sleep(0))
