"""The arithmetic of `python -m bench.effectiveness.verdicts`, by hand."""

import numpy as np
import pytest

from bench.effectiveness.verdicts import Verdicts, average_precision, best_f1, calibration_error, f1, steps_of

TRUTH = np.array([True, True, False, False])
CHANCES = np.array([0.9, 0.3, 0.6, 0.1])


def test_f1_counts_right_pages_twice_over_flagged_and_on_topic():
    assert f1(TRUTH, CHANCES >= 0.5) == pytest.approx(2 * 1 / (2 + 2))
    assert f1(TRUTH, CHANCES >= 2) == 0.0
    assert f1(~np.ones(3, dtype=bool), np.zeros(3, dtype=bool)) is None


def test_the_best_f1_is_that_of_the_best_threshold():
    assert best_f1(TRUTH, CHANCES) == pytest.approx(2 * 2 / (3 + 2))  # at 0.3, with one page too many


def test_average_precision_is_taken_at_each_page_on_topic():
    assert average_precision(TRUTH, CHANCES) == pytest.approx((1 + 2 / 3) / 2)


def test_the_calibration_error_is_the_distance_in_each_step():
    chances, truth = np.array([0.25, 0.25, 0.95, 1.0]), np.array([True, False, True, True])
    assert calibration_error(steps_of(truth, chances)) == pytest.approx((abs(0.5 - 1) + abs(1.95 - 2)) / 4)


def test_a_row_counts_verdicts_that_changed_after_the_page_came():
    arrived = np.array([True, False, False, True])
    row = Verdicts(truth=TRUTH, arrived=arrived, flagged=CHANCES >= 0.5, chances=CHANCES).row()
    assert (row["arrived"], row["flagged"], row["right"], row["on_topic"]) == (2, 2, 1, 2)
    assert row["changed"] == 0.5
