import pytest

from thresher.crew import CREW, Hand, crew, heard_by, muster, say_heard
from thresher.frontier.base import EVERYBODY
from thresher.frontier.memory import MemoryFrontier


async def test_who_is_at_work_is_known_to_whoever_asks():
    frontier, hands = MemoryFrontier(), [Hand(name="w1", process=12, since=1.0)]
    assert await crew(frontier) == []
    await muster(frontier, hands)
    assert await crew(frontier) == hands


@pytest.mark.parametrize("note", ["{", "3", '[{"name": "w1"}]', "[1]"])
async def test_a_note_that_cannot_be_read_names_nobody(note):
    frontier = MemoryFrontier()
    await frontier.remember(EVERYBODY, CREW, note, seconds=60.0)
    assert await crew(frontier) == []


async def test_each_worker_says_how_far_it_has_heard():
    frontier = MemoryFrontier()
    await say_heard(frontier, "w1", 3)
    assert (await heard_by(frontier, "w1"), await heard_by(frontier, "w2")) == (3, 0)
