import numpy as np
import pytest

from thresher.records import Judgement
from thresher.strategies.learned.forecast import NEXT, Foresight, outcome_of


def test_what_is_left_is_the_sum_of_all_chances():
    foresight = Foresight()
    for key in range(6):
        foresight.came(key, 1.0, score=None)
    ahead = foresight.ahead(np.array([0.5, 0.25, 0.25, 1.0]))
    assert ahead.left == pytest.approx(2.0, abs=0.001)
    assert ahead.share_found == pytest.approx(0.75, abs=0.001)
    assert ahead.next_yield == pytest.approx(0.5, abs=0.001)


def test_the_next_yield_is_that_of_the_best():
    ahead = Foresight().ahead(np.concatenate([np.ones(NEXT), np.zeros(1000)]))
    assert ahead.next_yield == pytest.approx(1.0, abs=0.001)


def test_of_nothing_nothing_is_expected():
    ahead = Foresight().ahead(np.array([]))
    assert (ahead.left, ahead.next_yield, ahead.share_found) == (0.0, 0.0, 0.0)


def test_scores_that_are_too_hopeful_are_set_right():
    foresight, draw = Foresight(), np.random.default_rng(1)
    for key, score in enumerate(draw.uniform(0.1, 0.9, 300).tolist()):
        odds = score / (1 - score)
        true = (0.2 * odds**1.5) / (1 + 0.2 * odds**1.5)
        foresight.came(key, float(draw.random() < true), score=score)
    hopeful = np.full(1000, 0.05)
    assert foresight.ahead(hopeful).left < 0.2 * hopeful.sum()
    assert foresight.ahead(np.full(NEXT, 0.5)).next_yield == pytest.approx(0.2 / 1.2, abs=0.06)


def test_a_second_thought_changes_what_was_found_and_what_scores_are_set_right_by():
    foresight = Foresight()
    for key in range(100):
        foresight.came(key, 0.0, score=0.5)
    before = foresight.ahead(np.full(10, 0.5))
    for key in range(100):
        foresight.think_again(key, 1.0)
    foresight.think_again(777, 1.0)
    after = foresight.ahead(np.full(10, 0.5))
    assert (before.found, after.found) == (0.0, 100.0)
    assert before.left < 1.0
    assert after.left > 9.0


def test_where_a_judge_can_tell_how_likely_a_page_is_that_is_what_counts():
    assert outcome_of(Judgement(relevance=0.5, relevant=False, probability=0.1)) == 0.1
    assert outcome_of(Judgement(relevance=0.5, relevant=False)) == 0.5
