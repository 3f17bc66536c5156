import pytest

from thresher.coordination.local_workers import WORKERS_KIND, LocalWorker, publish_workers, read_workers
from thresher.feedback.labels import acknowledge_labels, acknowledged
from thresher.frontier.base import CRAWL_WIDE
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


async def test_who_is_at_work_is_known_to_every_reader():
    frontier, local_workers = MemoryFrontier(), [LocalWorker(name="w1", process=12, since=1.0)]
    assert await read_workers(frontier) == []
    await publish_workers(frontier, local_workers)
    assert await read_workers(frontier) == local_workers


async def test_the_workers_of_a_run_by_an_earlier_version_are_known():
    frontier = MemoryFrontier()
    await frontier.put_state(CRAWL_WIDE, "crew", '[{"name": "w1", "process": 12, "since": 1.0}]', seconds=60.0)
    assert await read_workers(frontier) == [LocalWorker(name="w1", process=12, since=1.0)]


@pytest.mark.parametrize("note", ["{", "3", '[{"name": "w1"}]', "[1]"])
async def test_a_note_that_cannot_be_read_names_nobody(note):
    frontier = MemoryFrontier()
    await frontier.put_state(CRAWL_WIDE, WORKERS_KIND, note, seconds=60.0)
    assert await read_workers(frontier) == []


async def test_each_worker_acknowledges_how_many_labels_it_has_read():
    frontier = MemoryFrontier()
    await acknowledge_labels(frontier, "w1", 3)
    assert (await acknowledged(frontier, "w1"), await acknowledged(frontier, "w2")) == (3, 0)
