"""A worker receives every label once, and acknowledges how many it has read."""

from thresher.feedback.label_feed import POLL_SECONDS, LabelFeed
from thresher.feedback.labels import FolderLabelStore, Label, acknowledged
from thresher.records import ONE_TOPIC
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier

A, B = "http://a.example/", "http://b.example/"


class Pupil:
    """An updater that only records the labels it is given."""

    def __init__(self):
        self.frontier, self.reported, self.taken_up, self.judged_again = MemoryFrontier(), [], 0, 0

    async def warm_start(self, pages):
        self.taken_up += 1

    async def teach(self, reported, page_of):
        assert page_of(A) is None
        self.reported.append(dict(reported[ONE_TOPIC]))

    async def rejudge(self):
        self.judged_again += 1


class World:
    def __init__(self, folder):
        self.label_store, self.pupil, self.now = FolderLabelStore(folder / "labels.jsonl"), Pupil(), 0.0
        self.label_feed = LabelFeed(
            self.label_store, self.pupil, worker="w1", pages=folder / "pages", clock=lambda: self.now
        )

    async def append(self, **labels):
        words = {"a": A, "b": B}
        await self.label_store.append([Label(url=words[name], relevant=word, at=1.0) for name, word in labels.items()])

    async def received(self):
        return await acknowledged(self.pupil.frontier, "w1")


async def test_at_first_it_receives_all_labels_ever_given(tmp_path):
    world = World(tmp_path)
    await world.append(a=True)
    await world.append(a=False, b=True)
    await world.label_feed.begin()
    assert world.pupil.taken_up == 1
    assert world.pupil.reported == [{A: False, B: True}]
    assert await world.received() == 3


async def test_then_it_receives_what_is_new_once_a_second(tmp_path):
    world = World(tmp_path)
    await world.label_feed.begin()
    await world.append(a=True)
    await world.label_feed.poll()
    assert world.pupil.reported == []
    world.now += POLL_SECONDS
    await world.label_feed.poll()
    world.now += POLL_SECONDS
    await world.label_feed.poll()
    assert world.pupil.reported == [{A: True}]
    assert await world.received() == 1
    await world.label_feed.close()


async def test_all_pages_are_judged_again_after_new_labels_and_not_after_those_of_earlier_runs(tmp_path):
    world = World(tmp_path)
    await world.append(a=True)
    await world.label_feed.begin()
    assert world.pupil.judged_again == 1
    later = LabelFeed(world.label_store, world.pupil, worker="w1", pages=tmp_path / "pages", clock=lambda: world.now)
    await later.begin()
    assert world.pupil.reported == [{A: True}, {A: True}]
    assert world.pupil.judged_again == 1
    await later.close()


async def test_labels_that_come_one_after_the_other_are_reported_once_all_pages_were_judged_again(tmp_path):
    world = World(tmp_path)

    async def rejudge():
        world.now += 30.0
        world.pupil.judged_again += 1

    world.pupil.rejudge = rejudge
    await world.append(a=True)
    await world.label_feed.begin()
    await world.append(b=True)
    world.now += POLL_SECONDS
    await world.label_feed.poll()
    assert world.pupil.reported == [{A: True}, {B: True}]
    assert (world.pupil.judged_again, await world.received()) == (1, 1)
    world.now += 300.0
    await world.label_feed.poll()
    assert (world.pupil.judged_again, await world.received()) == (2, 2)
