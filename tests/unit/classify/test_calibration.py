"""The probability of a page: a curve between an ordinary page and a good one."""

import numpy as np
import pytest

from thresher.classify.calibration import HALFWAY, HALFWAY_SPREAD, probability
from thresher.classify.topic_model import TopicModel


def model(spread=HALFWAY_SPREAD):
    one = np.ones(1)
    return TopicModel(importance=one, direction=one, bent=one, middle=0.1, spread=spread, level=0.3, pages=100)


def test_an_ordinary_page_is_unlikely_and_a_good_one_likely():
    assert probability(model(), 0.1) < 0.01
    assert probability(model(), 0.35) > 0.9


def test_halfway_it_is_one_half():
    assert probability(model(), 0.1 + 0.2 * HALFWAY) == pytest.approx(0.5)


def test_where_scores_lie_far_apart_it_turns_earlier():
    assert probability(model(0.3), 0.22) > probability(model(), 0.22) > probability(model(0.03), 0.22)


def test_more_likeness_is_never_less_probable():
    values = [probability(model(), s) for s in np.linspace(-5, 5, 101)]
    assert values == sorted(values)
    assert 0.0 <= values[0] <= values[-1] <= 1.0


def test_without_a_background_it_still_answers():
    assert 0.0 < probability(model(0.0), 0.2) < 1.0
