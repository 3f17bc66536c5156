"""Naive Bayes over weights, and probabilities that a threshold can be held against."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from thresher_papers.judges.estimators.weighted_bayes import WeightedNaiveBayes, fit_temperature, sample_held_out

RANDOM = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 60)
RATES = np.array([[3, 1, 1, 0.5, 2], [1, 3, 1, 0.5, 2], [1, 1, 3, 0.5, 2]])
X = sparse.csr_matrix(RANDOM.poisson(RATES[Y]).astype(float))


def test_terms_are_smoothed_by_one_over_the_whole_vocabulary():
    # class a has seen t0 twice and t1 never: (1 + 2) / (2 + 2) and 1 / (2 + 2)
    bayes = WeightedNaiveBayes().fit(np.array([[2, 0], [1, 1]]), ["a", "b"])
    assert np.exp(bayes.feature_log_prob_[0]) == pytest.approx([0.75, 0.25])


def test_priors_are_shares_of_pages():
    bayes = WeightedNaiveBayes().fit(np.array([[1], [1], [1], [1]]), ["a", "a", "a", "b"])
    assert np.exp(bayes.class_log_prior_) == pytest.approx([0.75, 0.25])


def test_probabilities_are_those_of_multinomial_naive_bayes():
    weights = X.multiply(0.37).tocsr()
    ours, theirs = WeightedNaiveBayes(alpha=0.5).fit(weights, Y), MultinomialNB(alpha=0.5).fit(weights, Y)
    assert ours.predict_log_proba(weights) == pytest.approx(theirs.predict_log_proba(weights), abs=1e-9)


def test_only_what_a_class_has_seen_is_stored():
    bayes = WeightedNaiveBayes().fit(sparse.identity(20, format="csr"), np.arange(20))
    assert bayes.seen_log_ratio_.nnz == 20


def test_calibration_does_not_change_the_winner():
    plain = WeightedNaiveBayes().fit(X, Y)
    calibrated = WeightedNaiveBayes(calibrate=True, random_state=0).fit(X, Y)
    assert (plain.predict(X) == calibrated.predict(X)).all()


def test_calibrated_probabilities_do_not_saturate_on_long_pages():
    long_pages = X * 200
    plain = WeightedNaiveBayes().fit(long_pages, Y).predict_proba(long_pages).max(axis=1)
    fitted = WeightedNaiveBayes(calibrate=True, random_state=0).fit(long_pages, Y)
    calibrated = fitted.predict_proba(long_pages).max(axis=1)
    assert np.median(plain) > 0.999999
    assert np.median(calibrated) < 0.99


def test_a_page_without_known_words_is_judged_by_the_priors():
    bayes = WeightedNaiveBayes().fit(np.array([[1, 0], [1, 0], [0, 1]]), ["a", "a", "b"])
    assert bayes.predict_proba(np.zeros((1, 2))) == pytest.approx(np.array([[2 / 3, 1 / 3]]))


def test_the_temperature_makes_probabilities_fit_what_was_held_out():
    joint = np.array([[1.0, 0.0]] * 4_000)
    temperature = fit_temperature(joint, np.repeat([0, 1], [3_000, 1_000]))
    assert 1 / (1 + np.exp(-temperature)) == pytest.approx(0.75, abs=1e-3)


def test_the_temperature_stays_bounded_when_nothing_is_mistaken():
    temperature = fit_temperature(np.array([[1.0, 0.0]] * 8), np.zeros(8, dtype=int))
    assert 1 / (1 + np.exp(-temperature)) == pytest.approx(0.9, abs=1e-3)  # 9 of 10, with the two that were added


def test_every_class_is_held_out_in_part_and_never_wholly():
    out = sample_held_out(np.array(["a"] * 10 + ["b"] * 2 + ["c"]), 0.2, 0)
    assert [out[:10].sum(), out[10:12].sum(), out[12:].sum()] == [2, 1, 0]


def test_the_same_seed_holds_out_the_same_pages():
    assert (sample_held_out(Y, 0.2, 7) == sample_held_out(Y, 0.2, 7)).all()


def test_smoothing_must_be_above_zero():
    with pytest.raises(ValueError, match="alpha must be above 0, got 0"):
        WeightedNaiveBayes(alpha=0).fit(X, Y)
