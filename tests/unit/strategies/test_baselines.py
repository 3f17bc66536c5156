"""Baselines that no paper names: random order, and the share of relevant parents."""

from thresher.records import Judgement, Lease, Link, Merge, ParsedPage
from thresher.strategies.baselines import RandomOrder
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_papers.strategies.relevant_parents import RelevantParents

PAGE = ParsedPage(url="http://a.example/", links=tuple(Link(url=f"http://a.example/{n}") for n in range(20)))
LEASE = Lease(url=PAGE.url, host="a.example", score=1.0, fence=1, until=0.0)


def scores(strategy, relevance=1.0):
    judgement = Judgement(relevance=relevance, relevant=relevance > 0)
    return [candidate.score for candidate in strategy.score(PAGE, judgement, LEASE)]


def test_random_order_is_the_same_for_the_same_state():
    assert scores(RandomOrder(random_state=1)) == scores(RandomOrder(random_state=1))
    assert scores(RandomOrder(random_state=1)) != scores(RandomOrder(random_state=2))


async def test_the_frontier_keeps_the_share_of_relevant_parents():
    strategy = RelevantParents()
    assert strategy.merge is Merge.MEAN
    frontier = MemoryFrontier(merge=strategy.merge)
    for relevance in (1.0, 0.0, 1.0, 1.0):
        await frontier.add(list(strategy.score(PAGE, Judgement(relevance=relevance, relevant=True), LEASE)))
    assert (await frontier.find("http://a.example/3")).score == 0.75
