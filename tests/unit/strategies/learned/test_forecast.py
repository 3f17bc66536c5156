import numpy as np
import pytest

from thresher.strategies.learned.forecast import NEXT, forecast


def test_what_is_left_is_the_sum_of_all_chances():
    ahead = forecast(6.0, np.array([0.5, 0.25, 0.25, 1.0]))
    assert ahead.left == 2.0
    assert ahead.share_found == 0.75
    assert ahead.next_yield == 0.5


def test_the_next_yield_is_that_of_the_best():
    assert forecast(0.0, np.concatenate([np.ones(NEXT), np.zeros(1000)])).next_yield == pytest.approx(1.0)


def test_of_nothing_nothing_is_expected():
    ahead = forecast(0.0, np.array([]))
    assert (ahead.left, ahead.next_yield, ahead.share_found) == (0.0, 0.0, 0.0)
