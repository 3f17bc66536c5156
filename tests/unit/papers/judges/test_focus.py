"""Soft focus adds up the target classes; hard focus asks for a sure winner among them."""

import pytest

from thresher_papers.judges.focus import best_class, hard_focus, soft_focus

SCORES = {"Arts": 0.1, "Sports": 0.6, "Sports/Golf": 0.3}


def test_the_class_of_a_page_is_the_best_one():
    assert best_class(SCORES) == "Sports"


def test_several_targets_add_up():
    assert soft_focus(SCORES, {"Sports", "Sports/Golf"}) == pytest.approx(0.9)


def test_links_are_dropped_when_the_best_class_is_no_target():
    assert not hard_focus(SCORES, {"Arts", "Sports/Golf"})


def test_links_are_dropped_when_the_best_class_scores_below_a_half():
    assert not hard_focus({"Arts": 0.3, "Sports": 0.45, "Games": 0.25}, {"Sports"})


def test_links_are_followed_when_a_target_wins_surely():
    assert hard_focus(SCORES, {"Sports"})
