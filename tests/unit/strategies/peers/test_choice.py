"""One choice after every page; while seeds come, one is enough."""

from dataclasses import replace

from tests.unit.strategies.small_world import lease
from thresher.strategies.base import Change
from thresher.strategies.peers.choice import CHOSEN_SCORE, Choice


def came(choice, url, hops):
    choice.came(replace(lease(url=url), hops=hops))


def test_what_is_chosen_is_lifted_once():
    choice = Choice()
    came(choice, "seed", 0)
    assert choice.lift(lambda: ("a", 0.3)) == {"a": Change(0.3, CHOSEN_SCORE)}
    assert choice.lift(lambda: ("b", 0.3)) == {}


def test_further_seeds_bring_no_further_choice():
    choice = Choice()
    came(choice, "seed", 0)
    choice.lift(lambda: ("a", 0.3))
    came(choice, "other seed", 0)
    assert choice.lift(lambda: ("b", 0.3)) == {}
    came(choice, "a", 1)
    assert "b" in choice.lift(lambda: ("b", 0.3))


def test_a_choice_that_never_comes_holds_nobody_up():
    choice = Choice()
    came(choice, "seed", 0)
    choice.lift(lambda: ("outside", 0.3))
    came(choice, "something else", 1)
    assert "b" in choice.lift(lambda: ("b", 0.3))


def test_nothing_is_lifted_when_nothing_waits():
    choice = Choice()
    came(choice, "seed", 0)
    assert choice.lift(lambda: None) == {}
