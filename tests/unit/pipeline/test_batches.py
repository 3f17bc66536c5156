"""A batch: links wait until the ready queue is empty, then the best ones, as many as a batch holds, move into it."""

import pytest

from thresher.feedback.updates import JudgementUpdater
from thresher.records import Candidate, Judgement
from thresher.storage.page_store import NoArchive
from thresher.strategies.best_first import BestFirst
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


class NoJudge:
    def judge(self, page):
        return Judgement(relevance=0.0, relevant=False)

    def words(self, page):
        return ()


def waiting(name, relevance):
    return Candidate(url=f"http://{name}.example/", score=relevance - 1)


@pytest.fixture
def frontier():
    return MemoryFrontier(merge=BestFirst.merge)


@pytest.fixture
def take(frontier):
    async def take_with(updater):
        [lease] = await frontier.lease(1, seconds=9)
        await updater.refill_batch(lease)
        return lease.host.partition(".")[0]

    return take_with


def updater(frontier, batch):
    return JudgementUpdater(judge=NoJudge(), strategy=BestFirst(batch=batch), frontier=frontier, archive=NoArchive())


async def test_what_is_found_during_a_batch_waits_for_the_next(frontier, take):
    batches = updater(frontier, 2)
    await frontier.add([waiting("poor", 0.1), waiting("fair", 0.5), waiting("good", 0.6)])
    order = [await take(batches)]
    await frontier.add([waiting("best", 0.9)])
    order += [await take(batches), await take(batches), await take(batches)]
    assert order == ["good", "fair", "best", "poor"]


async def test_a_batch_of_one_is_greedy(frontier, take):
    batches = updater(frontier, 1)
    await frontier.add([waiting("fair", 0.5), waiting("good", 0.6)])
    order = [await take(batches)]
    await frontier.add([waiting("best", 0.9)])
    assert [*order, await take(batches), await take(batches)] == ["good", "best", "fair"]


async def test_a_ready_queue_that_is_not_empty_is_not_filled(frontier):
    batches = updater(frontier, 3)
    await frontier.add([waiting("one", 0.2), waiting("two", 0.1)])
    [first] = await frontier.lease(1, seconds=9)
    await frontier.add([Candidate(url="http://ready.example/", score=0.5)])
    await batches.refill_batch(first)
    assert (await frontier.find("http://two.example/")).score == pytest.approx(-0.9)
