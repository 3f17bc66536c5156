"""URLs that important pages of the topic link to are lifted."""

import pytest

from tests.unit.strategies.small_world import lease, page, verdict
from thresher.errors import ConfigError
from thresher.records import Link
from thresher.registry import make
from thresher_papers.strategies.distiller import LIFT
from thresher_papers.strategies.evidence.page_rank import PageRankLift
from thresher_papers.strategies.soft_focus import SoftFocus


def lifts(*pages):
    rank = PageRankLift(every=1)
    for url, relevance, links in pages:
        rank.add(url, relevance, links)
    return {url: change.now for url, change in rank.distill().items()}


def test_a_url_that_more_relevant_pages_link_to_is_lifted_most():
    found = lifts(("a", 1.0, ["x", "y"]), ("b", 1.0, ["x"]), ("c", 0.0, ["z"]))
    assert found["x"] == pytest.approx(LIFT)
    assert LIFT > found["y"] > 0
    assert "z" not in found


def test_rank_is_passed_on_over_pages():
    near, far = lifts(("a", 1.0, ["b", "y"]), ("b", 0.0, ["x"])), lifts(("a", 1.0, ["y"]), ("b", 0.0, ["x"]))
    assert near["x"] > 0
    assert "x" not in far


def test_fetched_pages_are_not_lifted():
    assert "b" not in lifts(("a", 1.0, ["b", "x"]), ("b", 0.5, ["x"]))


def test_soft_focus_adds_the_rank_to_the_scores_of_waiting_urls():
    strategy = SoftFocus(page_rank=1)
    list(strategy.score(page(Link(url="http://a.example/x")), verdict(True, 0.6), lease()))
    change = strategy.revise([])["http://a.example/x"]
    assert (change.was, change.now) == (0.6, pytest.approx(0.6 + LIFT))
    again = list(
        strategy.score(page(Link(url="http://a.example/x"), url="http://b.example/"), verdict(True, 0.6), lease())
    )
    assert again[0].breakdown == {"page": 0.6, "page rank": pytest.approx(LIFT)}


@pytest.mark.parametrize("parameters", [{"page_rank": -1}, {"page_rank": 5, "distill": 5}])
def test_impossible_parameters_are_refused(parameters):
    with pytest.raises(ConfigError, match="page_rank"):
        make("strategy", "soft-focus", parameters)
