"""Links wait in the queue of their page's layer."""

import pytest

from tests.unit.strategies.layered_world import MODEL
from tests.unit.strategies.small_world import IRRELEVANT, lease, links, page
from thresher.errors import ConfigError
from thresher.records import Merge
from thresher.registry import make
from thresher.strategies.aim import Aim


@pytest.fixture
def strategy(tmp_path):
    MODEL.save(tmp_path)
    return lambda **parameters: make("strategy", "context-graph", parameters, Aim(model=tmp_path))


def score(strategy, text, carry=None):
    [candidate] = strategy.score(page(*links(1), text=text), IRRELEVANT, lease(carry=carry))
    return candidate


def test_links_go_to_the_queue_of_their_page(strategy):
    graph = strategy()
    assert score(graph, "solar").score == pytest.approx(3 / 4)
    assert score(graph, "index").score == pytest.approx(2 / 4)
    assert score(graph, "tea").score == 0.0
    assert score(graph, "solar").parts == {"queue": 0.0, "likelihood": pytest.approx(0.75)}


def test_seeds_enter_the_last_queue(strategy):
    assert [seed.score for seed in strategy().seeds(["http://a.example/"])] == [0.0]


def test_by_likelihood_surer_pages_come_first_within_a_queue(strategy):
    assert score(strategy(order="likelihood"), "solar").score == pytest.approx(3.75 / 4)
    assert score(strategy(), "solar solar").score == score(strategy(), "solar").score


def test_a_url_in_a_queue_stays_in_its_place(strategy):
    assert strategy().merge is Merge.FIRST


def test_in_batches_a_generation_comes_before_the_next(strategy):
    graph = strategy(batch="all")
    first, second = score(graph, "tea"), score(graph, "solar", carry={"generation": 1})
    assert first.carry == {"generation": 1}
    assert second.carry == {"generation": 2}
    assert first.score > second.score


@pytest.mark.parametrize("parameters", [{"order": "random"}, {"batch": "some"}])
def test_other_words_are_refused(strategy, parameters):
    with pytest.raises(ConfigError, match="must be"):
        strategy(**parameters)
