"""Probabilities of pages: what counts for a page."""

import numpy as np
import pytest

from thresher.judges.adaptive.calibration import (
    CHINESE,
    EARLY,
    LATE,
    OTHER,
    Scale,
    early_evidence,
    late_evidence,
    logistic,
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
