"""Rules are learned from example pages, and lie with their classifier where the strategy looks for them."""

import pytest

from tests.unit.strategies.layers.small_source import SmallSource
from thresher.errors import ConfigError
from thresher.linkgraph import LinkGraph
from thresher.records import ParsedPage
from thresher.strategies.rules.strategy import trained_classifier
from thresher.strategies.rules.table import RuleTable
from thresher.training.rules import TextWords, learn_class_rules

SOURCE = SmallSource()
EXAMPLES = {"target": range(10), "hub": range(10, 20), "front": range(20, 30), "other": range(30, 40)}


def learn(examples=EXAMPLES, graph=SOURCE.graph, **more):
    return learn_class_rules(graph, TextWords(SOURCE), examples, targets=["target"], **more)


def test_rules_are_shares_of_the_linked_pages():
    rules = learn().table.rules()
    assert rules == {
        "target": {},
        "hub": {"target": 1.0},
        "front": {"hub": 0.5, "other": 0.5},
        "other": {"other": 1.0},
    }


def test_each_page_counts_once_per_class_and_no_page_refers_to_itself():
    edges = [(10, 10), *((page, target) for page in range(10, 20) for target in range(10, 40))]
    counts = learn(graph=LinkGraph.from_edges(40, edges)).table.counts
    assert counts["hub"] == {"hub": 10, "front": 10, "other": 10}


def test_what_is_saved_is_what_the_strategy_reads(tmp_path):
    learned = learn()
    learned.save(tmp_path)
    assert RuleTable.load(tmp_path) == learned.table
    scores = trained_classifier(tmp_path)(ParsedPage(url="http://a.example/", text="directory index"))
    assert max(scores, key=scores.__getitem__) == "hub"


def test_a_class_known_by_texts_alone_has_no_rules_but_can_be_met():
    examples = {"hub": range(10, 20), "front": range(20, 30)}
    texts = {"target": ["solar cell panel"] * 3, "other": ["tea leaf"] * 3}
    assert learn(examples, more_texts=texts).table.rules()["hub"] == {"target": 1.0}


@pytest.mark.parametrize("examples", [{"hub": range(10, 20)}, {"hub": range(10), "front": ()}])
def test_one_class_is_too_few(examples):
    with pytest.raises(ConfigError, match="two classes"):
        learn(examples)


def test_without_links_there_is_nothing_to_learn():
    with pytest.raises(ConfigError, match="link to 0 pages"):
        learn(graph=LinkGraph.from_edges(40, []))


def test_a_random_walk_adds_the_links_that_it_meets():
    plain, walked = learn().table.counts, learn(walk_steps=2000).table.counts
    assert walked["hub"]["target"] > plain["hub"]["target"]
    assert learn(walk_steps=2000).table.counts == walked
