import pytest

from thresher.frontier.base import EVERYBODY
from thresher.frontier.memory import MemoryFrontier
from thresher.wishes import KIND, LOOK_SECONDS, Ear, Wishes, begin, begun_with, read_wishes, wish


async def test_what_is_wished_is_read_by_all_who_work_for_the_crawl():
    frontier, wishes = MemoryFrontier(), Wishes(paused=True, pages=50, minutes=1.5)
    assert await read_wishes(frontier) == Wishes()
    await wish(frontier, wishes)
    assert await read_wishes(frontier) == wishes
    assert wishes.limits() == {"pages": 50, "minutes": 1.5}


async def test_a_run_that_begins_tells_its_limits_and_clears_what_was_wished():
    frontier = MemoryFrontier()
    await wish(frontier, Wishes(paused=True, pages=50))
    await begin(frontier, Wishes(minutes=3.0))
    assert await read_wishes(frontier) == Wishes()
    assert await begun_with(frontier) == Wishes(minutes=3.0)


@pytest.mark.parametrize("note", ["{", "[]", "3", '{"pages": "many"}', '{"minutes": [1]}'])
async def test_what_cannot_be_read_is_no_wish(note):
    frontier = MemoryFrontier()
    await frontier.remember(EVERYBODY, KIND, note, seconds=60.0)
    assert await read_wishes(frontier) == Wishes()


async def test_an_ear_asks_once_a_second():
    frontier, now = MemoryFrontier(), [10.0]
    ear = Ear(frontier, clock=lambda: now[0])
    assert await ear.listen() == Wishes()
    await wish(frontier, Wishes(paused=True))
    assert not (await ear.listen()).paused
    now[0] += LOOK_SECONDS
    assert (await ear.listen()).paused
