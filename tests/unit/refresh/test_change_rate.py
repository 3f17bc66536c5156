"""How often a page changes is estimated from what its visits saw."""

from random import Random

import pytest

from thresher.refresh.plan import DAY_SECONDS, ChangeObservations, probability_of_change
from thresher.storage.visits import PageVisit

USUAL = 1 / (10 * DAY_SECONDS)


def seen(*visits):
    observations = ChangeObservations()
    observations.add_visits(PageVisit(0.0, days * DAY_SECONDS, changed) for days, changed in visits)
    return observations


def per_day(observations, usual=USUAL):
    return observations.rate(usual) * DAY_SECONDS


def test_without_visits_a_page_changes_as_usual():
    assert per_day(ChangeObservations()) == pytest.approx(0.1)


def test_a_page_that_did_not_change_is_slower_and_one_that_did_is_faster():
    assert per_day(seen((10, False))) == pytest.approx(0.05)  # one change as it were, in twice the time
    assert per_day(seen((10, True))) > 0.1


def test_many_changes_in_short_intervals_say_more_than_in_long_ones():
    short, long = seen(*[(1, True)] * 5), seen(*[(30, True)] * 5)
    assert per_day(short) > 3 * per_day(long)


def test_a_page_that_changed_at_every_visit_has_a_finite_rate():
    assert 1 < per_day(seen(*[(1, True)] * 50)) < 50


def test_the_rate_of_a_page_that_is_visited_often_is_found():
    random, rate, visits = Random(1), 0.3, []
    for _ in range(2000):
        days = random.choice([0.5, 1, 2, 7])
        visits.append((days, random.random() < probability_of_change(rate, days)))
    assert per_day(seen(*visits)) == pytest.approx(rate, rel=0.1)


def test_what_a_server_says_of_the_last_change_counts():
    old, young = ChangeObservations(), ChangeObservations()
    old.add_age(300 * DAY_SECONDS)
    young.add_age(DAY_SECONDS / 10)
    assert per_day(old) < 0.01 < 0.1 < per_day(young)


def test_what_many_pages_saw_is_put_together():
    one, other, both = seen((1, True)), seen((5, False)), seen((1, True), (5, False))
    one.add(other)
    assert per_day(one) == per_day(both)


def test_a_page_has_surely_changed_after_a_very_long_time():
    assert probability_of_change(1.0, 0.0) == 0.0
    assert probability_of_change(1e-3, 1e9) == 1.0
    assert probability_of_change(1.0, -5.0) == 0.0
