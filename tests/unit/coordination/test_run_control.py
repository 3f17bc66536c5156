import pytest

from thresher.coordination.run_control import (
    KIND,
    POLL_SECONDS,
    RunControl,
    RunControlPoller,
    begin,
    initial_limits,
    read_run_control,
    set_run_control,
)
from thresher.frontier.base import CRAWL_WIDE
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


async def test_settings_are_read_by_all_who_work_for_the_crawl():
    frontier, run_control = MemoryFrontier(), RunControl(paused=True, pages=50, minutes=1.5)
    assert await read_run_control(frontier) == RunControl()
    await set_run_control(frontier, run_control)
    assert await read_run_control(frontier) == run_control
    assert run_control.limits() == {"pages": 50, "minutes": 1.5}


async def test_a_run_that_begins_tells_its_limits_and_clears_earlier_settings():
    frontier = MemoryFrontier()
    await set_run_control(frontier, RunControl(paused=True, pages=50))
    await begin(frontier, RunControl(minutes=3.0))
    assert await read_run_control(frontier) == RunControl()
    assert await initial_limits(frontier) == RunControl(minutes=3.0)


@pytest.mark.parametrize("note", ["{", "[]", "3", '{"pages": "many"}', '{"minutes": [1]}'])
async def test_what_cannot_be_read_is_no_setting(note):
    frontier = MemoryFrontier()
    await frontier.put_state(CRAWL_WIDE, KIND, note, seconds=60.0)
    assert await read_run_control(frontier) == RunControl()


async def test_an_ear_asks_once_a_second():
    frontier, now = MemoryFrontier(), [10.0]
    ear = RunControlPoller(frontier, clock=lambda: now[0])
    assert await ear.poll() == RunControl()
    await set_run_control(frontier, RunControl(paused=True))
    assert not (await ear.poll()).paused
    now[0] += POLL_SECONDS
    assert (await ear.poll()).paused
