"""Rules are learned from example pages, and lie with their classifier where the strategy looks for them."""

import pytest

from tests.unit.papers.strategies.layers.small_source import SmallSource
from thresher.errors import ConfigError
from thresher.linkgraph import LinkGraph
from thresher.records import ParsedPage
from thresher_papers.strategies.rules.strategy import trained_classifier
from thresher_papers.strategies.rules.table import RuleTable
from thresher_papers.training.rules import TextWords, citation_matrix, classifier_quality, combined, learn_class_rules

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


def test_the_classifier_is_measured_on_held_out_examples():
    quality = classifier_quality(TextWords(SOURCE), EXAMPLES)
    assert (quality.pages, quality.accuracy) == (40, 1.0)


def test_a_part_with_one_class_left_names_that_class():
    assert classifier_quality(TextWords(SOURCE), {"hub": [10], "target": [0]}).accuracy == 0.0


def test_texts_of_a_directory_train_but_are_not_measured():
    texts = {"target": ["solar cell panel"] * 5}
    quality = classifier_quality(TextWords(SOURCE), {"hub": range(10, 20), "target": [0]}, more_texts=texts)
    assert quality.confusion == {"hub": {"hub": 10}, "target": {"target": 1}}


# Pages 0-2 are hubs, 3-5 targets, 6 has no class; every hub links to every target, and target 3 to page 6.
EDGES = [(hub, target) for hub in range(3) for target in range(3, 6)] + [(3, 6)]
GRAPH = LinkGraph.from_edges(8, EDGES)
CLASSES = ["hub", "hub", "hub", "target", "target", "target", "", "lonely"]


def matrix(steps=1000, starts=(0,), **more):
    return citation_matrix(GRAPH, starts, CLASSES.__getitem__, steps=steps, **more)


def test_a_long_walk_meets_every_link_once():
    assert matrix() == {"hub": {"target": 9}, "target": {"": 1}}


def test_links_are_found_backwards_and_counted_forwards():
    assert matrix(starts=(4,))["hub"] == {"target": 9}


def test_the_same_seed_gives_the_same_walk():
    assert matrix(5, random_state=3) == matrix(5, random_state=3)
    assert len({str(matrix(5, random_state=seed)) for seed in range(20)}) > 1


def test_a_page_without_links_is_left_by_a_jump():
    assert matrix(starts=(7, 0))["hub"] == {"target": 9}
    assert matrix(starts=(7,)) == {}


def test_each_page_is_classified_once():
    asked = []
    citation_matrix(GRAPH, [0], lambda page: asked.append(page) or CLASSES[page], steps=1000)
    assert sorted(asked) == list(range(7))


def test_a_walk_needs_a_start():
    with pytest.raises(ValueError, match="start from"):
        matrix(starts=())


def test_matrices_add_up():
    assert combined({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}, "d": {"a": 4}}) == {"a": {"b": 3, "c": 3}, "d": {"a": 4}}
