"""Which pages link to what waits, within bounds."""

import pytest

from thresher.records import Judgement, Revision
from thresher.strategies.base import ScoreChange
from thresher.strategies.parent_scores import MAX_PARENTS, Parents


def now(url, relevance):
    return Revision(url=url, judgement=Judgement(relevance=relevance, relevant=False))


def test_the_best_parent_counts():
    parents = Parents(max)
    parents.add("a", 0.2, ["x", "y"])
    parents.add("b", 0.6, ["x"])
    assert parents.revise([now("a", 0.9)]) == {"x": ScoreChange(0.6, 0.9), "y": ScoreChange(0.2, 0.9)}
    assert parents.revise([now("a", 0.1)]) == {"x": ScoreChange(0.9, 0.6), "y": ScoreChange(0.9, 0.1)}


def test_small_changes_are_not_reported():
    parents = Parents(max)
    parents.add("a", 0.2, ["x"])
    assert parents.revise([now("a", 0.203)]) == {}


def test_what_was_fetched_waits_no_more():
    parents = Parents(max)
    parents.add("a", 0.2, ["x", "y"])
    parents.add("x", 0.5, [])
    assert list(parents.revise([now("a", 0.9)])) == ["y"]


def test_a_page_that_is_done_is_no_child():
    parents = Parents(max)
    parents.add("a", 0.2, [])
    parents.add("b", 0.2, ["a"])
    assert parents.revise([now("b", 0.9)]) == {}


def test_a_page_fetched_again_replaces_itself():
    parents = Parents(max)
    parents.add("a", 0.2, ["x"])
    parents.add("a", 0.4, ["x", "y"])
    assert parents.revise([now("a", 0.9)]) == {"x": ScoreChange(0.4, 0.9), "y": ScoreChange(0.4, 0.9)}


def test_old_pages_are_forgotten_when_there_are_too_many_links():
    parents = Parents(max, most_links=5)
    for name in "abcd":
        parents.add(name, 0.2, [f"{name}1", f"{name}2"])
    assert parents.revise([now("a", 0.9), now("b", 0.9)]) == {}
    assert set(parents.revise([now("c", 0.9), now("d", 0.9)])) == {"c1", "c2", "d1", "d2"}


def test_a_link_in_every_menu_stays_cheap():
    parents = Parents(max)
    for number in range(MAX_PARENTS + 50):
        parents.add(f"page{number}", 0.1, ["dead"])
    assert parents.revise([now(f"page{MAX_PARENTS + 1}", 0.9)]) == {}
    assert parents.revise([now("page0", 0.9)]) == {"dead": ScoreChange(0.1, 0.9)}


def test_other_ways_to_combine_are_possible():
    parents = Parents(lambda values: sum(values) / len(values))
    parents.add("a", 0.2, ["x"])
    parents.add("b", 0.6, ["x"])
    [change] = parents.revise([now("a", 0.4)]).values()
    assert (change.was, change.now) == (pytest.approx(0.4), pytest.approx(0.5))
