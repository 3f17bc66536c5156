"""A random walk samples which classes link to which."""

import pytest

from thresher.linkgraph import LinkGraph
from thresher.training.citation_matrix import citation_matrix, combined

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
