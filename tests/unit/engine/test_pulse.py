"""A worker says that it lives, and takes itself off the list when it leaves."""

import asyncio
import os

import pytest

from tests.servers.fixtures import redis_server_of_session, redis_url  # noqa: F401
from thresher.engine.pulse import Pulse
from thresher.fleet.links import store_link
from thresher.fleet.roster import Roster


@pytest.fixture
async def roster(redis_url):  # noqa: F811 - the fixture that is imported
    link = store_link(redis_url)
    yield Roster(link, "solar")
    await link.close()


async def listed(roster):
    for _ in range(200):
        if workers := await roster.workers():
            return workers
        await asyncio.sleep(0.01)
    return []


@pytest.mark.parametrize(("told", "left"), [(True, []), (False, ["blue-w1"])])
async def test_a_worker_is_on_the_list_while_it_works(roster, redis_url, told, left):  # noqa: F811
    pulse = Pulse(store_link(redis_url, patience_seconds=0.0), "solar", "blue-w1", mark="abc123")
    pulse.start(lambda: (7, "waiting"))
    [worker] = await listed(roster)
    sign = worker.sign
    assert (worker.name, sign.mark, sign.pid, sign.pages, sign.state) == (
        "blue-w1",
        "abc123",
        os.getpid(),
        7,
        "waiting",
    )
    pulse.stop()
    await pulse.leave(told=told)
    assert [one.name for one in await roster.workers()] == left


async def test_a_store_that_is_away_is_no_trouble():
    pulse = Pulse(store_link("redis://127.0.0.1:1/0", patience_seconds=0.0), "solar", "w1", mark="abc123")
    pulse.start(lambda: (0, "waiting"))
    await asyncio.sleep(0.1)
    pulse.stop()
    await pulse.leave(told=True)
