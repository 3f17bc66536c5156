"""One choice after every page; while seeds come, one is enough."""

from dataclasses import replace

from tests.unit.strategies.small_world import lease
from thresher.strategies.base import ScoreChange
from thresher_lab.peers.turns import CHOSEN_SCORE, TurnScheduler


def on_result(choice, url, hops):
    choice.on_result(replace(lease(url=url), hops=hops))


def test_what_is_chosen_is_lifted_once():
    choice = TurnScheduler()
    on_result(choice, "seed", 0)
    assert choice.lift(lambda: ("a", 0.3)) == {"a": ScoreChange(0.3, CHOSEN_SCORE)}
    assert choice.lift(lambda: ("b", 0.3)) == {}


def test_further_seeds_bring_no_further_choice():
    choice = TurnScheduler()
    on_result(choice, "seed", 0)
    choice.lift(lambda: ("a", 0.3))
    on_result(choice, "other seed", 0)
    assert choice.lift(lambda: ("b", 0.3)) == {}
    on_result(choice, "a", 1)
    assert "b" in choice.lift(lambda: ("b", 0.3))


def test_a_choice_that_never_comes_holds_nobody_up():
    choice = TurnScheduler()
    on_result(choice, "seed", 0)
    choice.lift(lambda: ("outside", 0.3))
    on_result(choice, "something else", 1)
    assert "b" in choice.lift(lambda: ("b", 0.3))


def test_nothing_is_lifted_when_nothing_waits():
    choice = TurnScheduler()
    on_result(choice, "seed", 0)
    assert choice.lift(lambda: None) == {}
