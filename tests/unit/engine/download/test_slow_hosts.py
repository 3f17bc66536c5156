"""Slow servers hold a fifth of the slots and no more, once they are known to be slow."""

import pytest

from thresher.engine.download.slow_hosts import FIRST_SECONDS, SlowHostLimiter


@pytest.fixture
def slow_hosts(clock):
    return SlowHostLimiter(10, clock=clock)  # two places for slow ones


def answer(slow_hosts, clock, host, seconds, *, times=1):
    for number in range(times):
        slow_hosts.begins((host, number), host)
        clock.now += seconds
        slow_hosts.ends((host, number), answered=True)


def begin(slow_hosts, *hosts):
    for host in hosts:
        slow_hosts.begins(host, host)


def test_while_nobody_knows_what_is_usual_everyone_has_a_few_seconds(slow_hosts, clock):
    begin(slow_hosts, *"abcdefghij")
    clock.now += FIRST_SECONDS - 0.1
    assert slow_hosts.too_many() == []
    clock.now += 0.1
    assert slow_hosts.too_many() == list("abcdefgh")


def test_slow_is_ten_times_what_is_usual_and_the_oldest_are_broken_off(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 0.3, times=20)
    begin(slow_hosts, "a", "b", "c", "d")
    clock.now += 2.9
    assert slow_hosts.too_many() == []
    clock.now += 0.2
    assert slow_hosts.too_many() == ["a", "b"]


def test_nothing_under_a_third_of_a_second_is_slow(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 0.001, times=20)
    begin(slow_hosts, "a", "b", "c")
    clock.now += 0.29
    assert slow_hosts.too_many() == []


def test_on_a_slow_line_nobody_is_slow(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 4.0, times=20)
    begin(slow_hosts, "a", "b", "c")
    clock.now += 30.0
    assert slow_hosts.too_many() == []


def test_a_host_that_was_slow_waits_for_a_place(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 0.1, times=20)
    begin(slow_hosts, "a", "b", "c")
    clock.now += 2.0
    slow_hosts.too_many()
    slow_hosts.ends("a", answered=False)
    assert not slow_hosts.may_begin("a")
    assert slow_hosts.may_begin("good")
    slow_hosts.ends("b", answered=False)
    assert slow_hosts.may_begin("a")


def test_a_host_that_was_slow_holds_a_place_from_its_start(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 0.1, times=20)
    begin(slow_hosts, "a", "b", "c")
    clock.now += 2.0
    slow_hosts.too_many()
    for host in "abc":
        slow_hosts.ends(host, answered=False)
    begin(slow_hosts, "a", "b")
    assert not slow_hosts.may_begin("c")


def test_a_host_that_answers_in_time_is_slow_no_longer(slow_hosts, clock):
    answer(slow_hosts, clock, "good", 0.1, times=20)
    slow_hosts.too_many()
    answer(slow_hosts, clock, "a", 3.0)
    begin(slow_hosts, "x", "y")
    clock.now += 2.0
    assert not slow_hosts.may_begin("a")
    answer(slow_hosts, clock, "a", 0.1)
    assert slow_hosts.may_begin("a")


def test_time_in_which_we_did_not_look_is_nobodys_fault(slow_hosts, clock):
    answer(slow_hosts, clock, "quick.test", 0.01, times=20)
    slow_hosts.too_many()
    for number in range(4):
        slow_hosts.begins(number, f"slow{number}.test")
    clock.now += 0.6
    slow_hosts.exclude_seconds(0.5)
    assert slow_hosts.too_many() == []
    clock.now += 0.5
    assert slow_hosts.too_many() == [0, 1]
