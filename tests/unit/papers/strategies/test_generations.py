"""Links in generations, and best-first read by the letter."""

import pytest

from tests.unit.strategies.small_world import lease, links, page, verdict
from thresher.records import Link
from thresher.strategies.batches import fold
from thresher.strategies.best_first import BestFirst
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier


def test_an_earlier_generation_comes_first_whatever_it_scores():
    assert fold(1, 1.0) > fold(1, 0.5) > fold(1, 0.0) > fold(2, 1.0)


def found(strategy, relevance, leased, *urls):
    world = page(*(Link(url=url) for url in urls))
    return list(strategy.score(world, verdict(True, relevance=relevance), leased))


async def test_links_wait_until_the_generation_before_them_is_fetched():
    strategy = BestFirst(batch="all")
    frontier = MemoryFrontier(merge=strategy.merge, leases_per_host=9)
    await frontier.add(found(strategy, 0.1, lease(), "http://a.example/poor"))
    await frontier.add(found(strategy, 0.6, lease(), "http://a.example/good"))
    [good] = await frontier.lease(1, seconds=9)
    await frontier.add(found(strategy, 0.9, good, "http://a.example/grandchild"))
    order = [good, *await frontier.lease(1, seconds=9), *await frontier.lease(1, seconds=9)]
    assert [each.url.rpartition("/")[2] for each in order] == ["good", "poor", "grandchild"]


async def test_a_url_found_again_stays_in_its_first_generation():
    strategy = BestFirst(batch="all")
    frontier = MemoryFrontier(merge=strategy.merge)
    [url] = ["http://a.example/1"]
    await frontier.add(found(strategy, 0.1, lease(), url))
    await frontier.add(found(strategy, 0.9, lease(strategy_data={"generation": 1}), url))
    [leased] = await frontier.lease(1, seconds=9)
    assert leased.strategy_data == {"generation": 1}
    assert leased.score == pytest.approx(0.1 - 1)


def test_greedy_links_carry_no_generation():
    [candidate] = BestFirst().score(page(*links(1)), verdict(True), lease())
    assert (candidate.score, candidate.strategy_data) == (1.0, {})


@pytest.mark.parametrize("batch", ["some", 0, -1])
def test_an_unknown_batch_is_refused(batch):
    with pytest.raises(ValueError, match="batch must be none or all or a number above 0"):
        BestFirst(batch=batch)


def test_links_of_a_batch_wait_below_the_ready_queue():
    strategy = BestFirst(batch=50)
    [candidate] = strategy.score(page(*links(1)), verdict(True), lease())
    assert -1 <= candidate.score < 0 < next(iter(strategy.seeds(["http://a.example/"]))).score
