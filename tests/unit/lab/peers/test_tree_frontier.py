"""The tree frontier: which split is made, where samples go, and one draw from each leaf."""

from random import Random

import numpy as np
import pytest

from thresher_lab.peers import tree_frontier as module
from thresher_lab.peers.tree_frontier import StateActionSample, TreeFrontier, best_split, variance_reduction


def sample(url, *x):
    return StateActionSample(url, np.array(x, dtype=float))


def grown():
    """Let rewards follow the second number."""
    tree = TreeFrontier(Random(0))
    tree.add(sample("low", 0, 0))
    tree.add(sample("high", 0, 1))
    for number in range(6):
        tree.learn(np.array([number % 3, number % 2], dtype=float), float(number % 2))
    return tree


def test_the_variance_falls_by_what_a_split_explains():
    rewards = np.array([1.0, 1, 0, 0])
    assert variance_reduction(rewards, np.array([True, True, False, False])) == pytest.approx(0.25)
    assert variance_reduction(rewards, np.array([True, False, True, False])) == pytest.approx(0.0)
    assert variance_reduction(rewards, np.array([True, False, False, False])) == pytest.approx(0.25 - 0.75 * 2 / 9)


def test_the_best_split_is_by_the_number_that_explains_rewards():
    X = np.array([[0.0, 0.2], [1, 0.2], [0, 0.7], [1, 0.7]])
    assert best_split(X, np.array([0.0, 0, 1, 1])) == (1, 0.2)
    assert best_split(X, np.ones(4)) == (-1, 0.0)


def test_a_leaf_splits_when_there_is_enough_experience_and_its_samples_follow():
    tree = grown()
    assert [[each.url for each in leaf.samples] for leaf in tree.leaves] == [["low"], ["high"]]
    tree.add(sample("new", 9, 1))
    assert [each.url for each in tree.leaves[1].samples] == ["high", "new"]
    assert len(tree.experience()) == 6


def test_too_little_experience_splits_nothing():
    tree = TreeFrontier(Random(0))
    for reward in (0.0, 1.0, 0.0, 1.0):
        tree.learn(np.array([reward]), reward)
    assert len(tree.leaves) == 1


def test_one_sample_is_drawn_from_each_leaf_and_none_that_waits_no_more():
    tree = grown()
    assert {each.url for each in tree.draw(lambda url: True)} == {"low", "high"}
    assert [each.url for each in tree.draw(lambda url: url == "high")] == ["high"]
    assert tree.leaves[0].samples == []


def test_the_fullest_leaf_forgets_its_oldest(monkeypatch):
    monkeypatch.setattr(module, "MAX_SAMPLES", 3)
    tree = TreeFrontier(Random(0))
    for name in "abcd":
        tree.add(sample(name, 0))
    assert [each.url for each in tree.leaves[0].samples] == ["b", "c", "d"]
