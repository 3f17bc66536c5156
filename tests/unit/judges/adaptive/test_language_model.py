"""Probabilities of pages: what counts for a page, what labels correct."""

import numpy as np
import pytest

from thresher.judges.adaptive.calibration import (
    CHINESE,
    EARLY,
    LATE,
    OTHER,
    PER_HEIGHT,
    THRESHOLD,
    Correction,
    Scale,
    early_evidence,
    late_evidence,
    logistic,
    recalibrate,
)

RISING = np.linspace(0.0, 0.9, 40)


def scale(*, seeds=3, mass=100.0):
    return Scale(examples=seeds, early_left_out=0.3, left_out=0.2, mass=mass, mean=0.03, deviation=0.03)


def early(s, named=0.1, *, seeds=3, language=OTHER):
    return logistic(early_evidence(scale(seeds=seeds), *np.broadcast_arrays(s, named)), EARLY[language])


def late(s, named=0.1, *, language=OTHER, **known):
    return logistic(late_evidence(scale(**known), *np.broadcast_arrays(s, s, named)), LATE[language])


@pytest.mark.parametrize("seeds", [0, 1, 2, 5])
@pytest.mark.parametrize("mass", [0.0, 10.0, 1000.0])
@pytest.mark.parametrize("language", [OTHER, CHINESE])
def test_more_likeness_never_makes_a_page_less_probable(seeds, mass, language):
    for chances in (
        early(RISING, seeds=seeds, language=language),
        early(0.1, RISING, seeds=seeds, language=language),
        late(RISING, seeds=seeds, mass=mass, language=language),
        late(0.1, RISING, seeds=seeds, mass=mass, language=language),
    ):
        assert (np.diff(chances) >= 0).all()
        assert 0.0 < chances[0] <= chances[-1] < 1.0


def test_the_phrase_counts_with_one_seed():
    assert late(np.array([0.15]), 0.3, seeds=1) > late(np.array([0.15]), 0.0, seeds=1) + 0.1


def test_a_page_like_the_background_is_unlikely_and_one_like_a_seed_is_likely():
    assert late(np.array([0.03]), 0.02)[0] < 0.1
    assert late(np.array([0.4]), 0.2)[0] > 0.8


def corrected(chances, labels, taught=None):
    """Correct by labels on the first pages; the others have none."""
    labels = [*labels, *[None] * (len(chances) - len(labels))]
    return recalibrate(np.array(chances), labels, np.zeros(len(chances)) if taught is None else np.array(taught))


def test_without_labels_nothing_is_corrected():
    assert corrected([], []) == corrected([0.5, 0.2], []) == Correction()
    assert Correction().apply(0.3) == pytest.approx(0.3)
    assert Correction().effective(THRESHOLD) == pytest.approx(THRESHOLD)


def test_ten_labels_move_the_threshold_and_one_moves_it_little():
    ten, one = corrected([0.3] * 10, [True] * 10), corrected([0.3], [True])
    assert ten.offset > 2 * one.offset > 0.0
    assert ten.effective(0.4) < one.effective(0.4) < 0.4
    assert one.effective(0.4) > 0.3
    assert corrected([0.5] * 10, [False] * 10).effective(0.4) > 0.5


def test_labels_that_come_true_as_often_as_promised_change_nothing():
    assert corrected([0.5] * 10, [True, False] * 5).offset == pytest.approx(0.0)


def test_what_labels_teach_on_the_whole_is_taken_out_again():
    # three pages that are as unsure, one of them raised by 0.3: the mean of the two without a label is 0.15
    assert corrected([0.5] * 3, [], [0.0, 0.3, 0.0]).offset == 0.0
    levelled = corrected([0.5] * 4, [True, False], [1.0, -1.0, 0.3, 0.0])
    assert levelled.offset == pytest.approx(-0.15 * PER_HEIGHT)


def test_the_effective_threshold_is_what_becomes_the_threshold():
    correction = corrected([0.2, 0.3, 0.6], [True, True, False])
    assert correction.apply(correction.effective(0.4)) == pytest.approx(0.4)


def test_pages_that_were_certain_do_not_break_the_correction():
    assert abs(corrected([0.0, 1.0] * 50, [True, False] * 50).offset) < 1.0
    assert corrected([1e-9] * 100, [True] * 100).offset > 3.0
