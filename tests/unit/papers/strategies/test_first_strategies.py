"""Breadth-first knows no difference between links; best-first hands down the page's worth."""

from thresher.records import Judgement, Lease, Link, Merge, ParsedPage
from thresher.strategies.baselines import BreadthFirst
from thresher.strategies.best_first import BestFirst

PAGE = ParsedPage(url="http://a.example/", links=(Link(url="http://a.example/1"), Link(url="http://a.example/2")))
LEASE = Lease(url=PAGE.url, host="a.example", score=1.0, fence=1, until=0.0)
WORTH = Judgement(relevance=0.4, relevant=True)


def test_breadth_first_leaves_the_order_to_age():
    strategy = BreadthFirst()
    assert [candidate.score for candidate in strategy.score(PAGE, WORTH, LEASE)] == [0.0, 0.0]
    assert strategy.merge is Merge.FIRST


def test_best_first_gives_every_link_the_relevance_of_its_page():
    candidates = list(BestFirst().score(PAGE, WORTH, LEASE))
    assert [candidate.score for candidate in candidates] == [0.4, 0.4]
    assert candidates[0].breakdown == {"page": 0.4}


def test_best_first_starts_with_the_seeds():
    assert [seed.score for seed in BestFirst().seeds(["http://a.example/"])] == [1.0]
