"""Naive Bayes by hand: two classes, three features."""

import numpy as np
import pytest

from thresher_lab.peers.naive_bayes import NaiveBayes


def features(*numbers):
    return np.array(numbers, dtype=np.int32)


def test_before_the_first_fit_all_classes_are_equal():
    assert NaiveBayes(2, 3).predict([features(0), features()]).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_posteriors_are_those_of_the_formula():
    bayes = NaiveBayes(2, 3)
    bayes.add(0, features(0, 1))
    bayes.add(0, features(0))
    bayes.add(1, features(2))
    bayes.fit()
    # class 0: prior 3/5, features (3, 2, 1)/6; class 1: prior 2/5, features (1, 1, 2)/4
    joint = np.array([3 / 5 * 3 / 6, 2 / 5 * 1 / 4])
    assert bayes.predict([features(0)])[0].tolist() == pytest.approx((joint / joint.sum()).tolist())
    assert bayes.predict([features()])[0].tolist() == pytest.approx([3 / 5, 2 / 5])


def test_nothing_is_predicted_of_nothing():
    assert NaiveBayes(2, 3).predict([]).shape == (0, 2)
