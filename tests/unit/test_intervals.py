import pytest

from thresher.intervals import wilson_interval


@pytest.mark.parametrize(
    ("hits", "n", "interval"),
    [(8, 10, (0.490, 0.943)), (0, 10, (0.0, 0.278)), (10, 10, (0.722, 1.0)), (500, 1000, (0.469, 0.531))],
)
def test_the_interval_is_that_of_wilson(hits, n, interval):
    assert wilson_interval(hits, n) == pytest.approx(interval, abs=0.001)


def test_without_observations_every_share_is_possible():
    assert wilson_interval(0, 0) == (0.0, 1.0)
