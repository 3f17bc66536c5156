"""Links wait in the queue of their page's layer."""

import pytest

from tests.unit.papers.strategies.layered_world import MODEL
from tests.unit.papers.strategies.layers.small_source import TARGETS, SmallSource
from tests.unit.strategies.small_world import IRRELEVANT, RELEVANT, lease, links, page
from thresher.errors import ConfigError
from thresher.modelstate.folder import FolderStateStore
from thresher.records import Link, Merge
from thresher.registry import make
from thresher.strategies.base import Batched, Stateful
from thresher.topics.profile import TopicProfile


@pytest.fixture
def strategy(tmp_path):
    MODEL.save(tmp_path)
    return lambda **parameters: make("strategy", "context-graph", parameters, TopicProfile(model=tmp_path))


def score(strategy, text, strategy_data=None):
    [candidate] = strategy.score(page(*links(1), text=text), IRRELEVANT, lease(strategy_data=strategy_data))
    return candidate


def test_links_go_to_the_queue_of_their_page(strategy):
    graph = strategy()
    assert score(graph, "solar").score == pytest.approx(3 / 4)
    assert score(graph, "index").score == pytest.approx(2 / 4)
    assert score(graph, "tea").score == 0.0
    assert score(graph, "solar").breakdown == {"queue": 0.0, "likelihood": pytest.approx(0.75)}


def test_seeds_start_above_all_queues_or_as_in_the_paper_in_the_last(strategy):
    assert [seed.score for seed in strategy().seeds(["http://a.example/"])] == [1.0]
    assert [seed.score for seed in strategy(seeds_last=True).seeds(["http://a.example/"])] == [0.0]


def test_by_likelihood_surer_pages_come_first_within_a_queue(strategy):
    assert score(strategy(order="likelihood"), "solar").score == pytest.approx(3.75 / 4)
    assert score(strategy(), "solar solar").score == score(strategy(), "solar").score


def test_a_url_in_a_queue_stays_in_its_place(strategy):
    assert strategy().merge is Merge.FIRST


def test_in_batches_a_generation_comes_before_the_next(strategy):
    graph = strategy(batch="all")
    first, second = score(graph, "tea"), score(graph, "solar", strategy_data={"generation": 1})
    assert first.strategy_data == {"generation": 1}
    assert second.strategy_data == {"generation": 2}
    assert first.score > second.score


def test_in_batches_of_a_number_links_wait_below_zero_and_seeds_do_not(strategy):
    graph = strategy(batch=10)
    assert isinstance(graph, Batched)
    assert graph.batch_size == 10
    assert score(graph, "solar").score == pytest.approx(3 / 4 - 1)
    assert [seed.score for seed in graph.seeds(["http://a.example/"])] == [1.0]


RINGS = SmallSource()


def crawl(graph):
    """Fetch the forty pages of the rings, whose first ten are targets."""
    for number in range(40):
        found = [Link(url=f"http://a.example/{target}") for target, _ in RINGS.links(number) if target >= 0]
        here = page(*found, url=f"http://a.example/{number}", text=RINGS.text(number))
        list(graph.score(here, RELEVANT if number in TARGETS else IRRELEVANT, lease()))


def test_after_enough_new_targets_the_layers_are_learned_from_the_crawl(strategy):
    graph = strategy(retrain_every=10)
    crawl(graph)
    assert score(graph, "welcome news home").breakdown["queue"] == 3  # at the tenth target no link to one was known
    crawl(graph)
    assert score(graph, "solar cell panel").breakdown["queue"] == 0
    assert score(graph, "directory index list").breakdown["queue"] == 1
    assert score(graph, "welcome news home").breakdown["queue"] == 2


def test_layers_stay_as_they_were_trained_by_default(strategy):
    graph = strategy()
    crawl(graph)
    crawl(graph)
    assert score(graph, "welcome news home").breakdown["queue"] == 3


def test_a_restart_gives_the_same_scores(strategy, tmp_path):
    graph, again = strategy(retrain_every=10), strategy(retrain_every=10)
    assert isinstance(graph, Stateful)
    graph.load_state(FolderStateStore(tmp_path / "notes", "one"))
    crawl(graph)
    crawl(graph)
    graph.save_state()
    again.load_state(FolderStateStore(tmp_path / "notes", "one"))
    for text in ("solar cell", "directory index", "welcome news", "tea leaf"):
        assert score(again, text) == score(graph, text)


def test_workers_learn_layers_from_each_others_pages(strategy, tmp_path):
    """One has fetched every target and the other everything else: alone, neither knows a page that links to one."""
    one, two = strategy(retrain_every=10), strategy(retrain_every=10)
    for graph, worker in ((one, "one"), (two, "two")):
        graph.load_state(FolderStateStore(tmp_path / "notes", worker))
    for number in range(40):
        found = [Link(url=f"http://a.example/{target}") for target, _ in RINGS.links(number) if target >= 0]
        here = page(*found, url=f"http://a.example/{number}", text=RINGS.text(number))
        is_target = number in TARGETS
        list((one if is_target else two).score(here, RELEVANT if is_target else IRRELEVANT, lease()))
    last = page(url="http://a.example/0", text=RINGS.text(0))
    list(two.score(last, RELEVANT, lease()))
    assert score(two, "welcome news home").breakdown["queue"] == 2


@pytest.mark.parametrize("parameters", [{"order": "random"}, {"batch": "some"}, {"retrain_every": -1}])
def test_other_words_are_refused(strategy, parameters):
    with pytest.raises(ConfigError, match="must be"):
        strategy(**parameters)
