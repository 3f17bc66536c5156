"""Slow servers hold a fifth of the slots and no more, once they are known to be slow."""

import pytest

from thresher.engine.patience import FIRST_SECONDS, Patience


@pytest.fixture
def patience(clock):
    return Patience(10, clock=clock)  # two places for slow ones


def answer(patience, clock, host, seconds, *, times=1):
    for number in range(times):
        patience.begins((host, number), host)
        clock.now += seconds
        patience.ends((host, number), answered=True)


def begin(patience, *hosts):
    for host in hosts:
        patience.begins(host, host)


def test_while_nobody_knows_what_is_usual_everyone_has_a_few_seconds(patience, clock):
    begin(patience, *"abcdefghij")
    clock.now += FIRST_SECONDS - 0.1
    assert patience.too_many() == []
    clock.now += 0.1
    assert patience.too_many() == list("abcdefgh")


def test_slow_is_ten_times_what_is_usual_and_the_oldest_are_broken_off(patience, clock):
    answer(patience, clock, "good", 0.3, times=20)
    begin(patience, "a", "b", "c", "d")
    clock.now += 2.9
    assert patience.too_many() == []
    clock.now += 0.2
    assert patience.too_many() == ["a", "b"]


def test_nothing_under_a_third_of_a_second_is_slow(patience, clock):
    answer(patience, clock, "good", 0.001, times=20)
    begin(patience, "a", "b", "c")
    clock.now += 0.29
    assert patience.too_many() == []


def test_on_a_slow_line_nobody_is_slow(patience, clock):
    answer(patience, clock, "good", 4.0, times=20)
    begin(patience, "a", "b", "c")
    clock.now += 30.0
    assert patience.too_many() == []


def test_a_host_that_was_slow_waits_for_a_place(patience, clock):
    answer(patience, clock, "good", 0.1, times=20)
    begin(patience, "a", "b", "c")
    clock.now += 2.0
    patience.too_many()
    patience.ends("a", answered=False)
    assert not patience.may_begin("a")
    assert patience.may_begin("good")
    patience.ends("b", answered=False)
    assert patience.may_begin("a")


def test_a_host_that_was_slow_holds_a_place_from_its_start(patience, clock):
    answer(patience, clock, "good", 0.1, times=20)
    begin(patience, "a", "b", "c")
    clock.now += 2.0
    patience.too_many()
    for host in "abc":
        patience.ends(host, answered=False)
    begin(patience, "a", "b")
    assert not patience.may_begin("c")


def test_a_host_that_answers_in_time_is_slow_no_longer(patience, clock):
    answer(patience, clock, "good", 0.1, times=20)
    patience.too_many()
    answer(patience, clock, "a", 3.0)
    begin(patience, "x", "y")
    clock.now += 2.0
    assert not patience.may_begin("a")
    answer(patience, clock, "a", 0.1)
    assert patience.may_begin("a")


def test_time_in_which_we_did_not_look_is_nobodys_fault(patience, clock):
    answer(patience, clock, "quick.test", 0.01, times=20)
    patience.too_many()
    for number in range(4):
        patience.begins(number, f"slow{number}.test")
    clock.now += 0.6
    patience.forgive(0.5)
    assert patience.too_many() == []
    clock.now += 0.5
    assert patience.too_many() == [0, 1]
