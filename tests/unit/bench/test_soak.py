import pytest

from bench.collection.soak import HOUR, WARM_SECONDS, slope_per_hour


def life(start, size, per_second, seconds=120):
    return [(start + at, size + per_second * at) for at in range(0, seconds, 5)]


def test_growth_within_a_life_is_given_per_hour():
    assert slope_per_hour([life(0, 1000, 2)]) == pytest.approx(2 * HOUR)


def test_a_new_life_that_begins_smaller_or_larger_is_no_growth():
    assert slope_per_hour([life(0, 1000, 0), life(200, 5000, 0), life(400, 10, 0)]) == 0


def test_what_a_process_needs_to_start_is_no_growth():
    start = [(at, 1000.0 * at) for at in range(0, int(WARM_SECONDS), 5)]
    assert slope_per_hour([[*start, *[(at, 30_000.0) for at in range(30, 120, 5)]]]) == 0


def test_lives_that_are_too_short_tell_nothing():
    assert slope_per_hour([[(0, 1.0), (5, 100.0)], []]) == 0
