"""ITFIDF weighs by frequency, rarity and information gain."""

import numpy as np
import pytest
from scipy import sparse

from thresher_papers.judges.estimators.itfidf import ItfIdf, information_gain


def test_a_term_in_two_of_four_equal_documents_gains_one_bit():
    X = np.array([[1, 1], [1, 1], [0, 2], [0, 2]])
    assert information_gain(X)[0] == pytest.approx(1.0)


def test_gain_is_negative_where_a_term_is_spread_more_evenly_than_the_documents():
    X = np.array([[1, 8], [1, 0]])  # lengths 9 and 1: H(D) = .469, H(D|t) = 1
    assert information_gain(X)[0] == pytest.approx(-0.531, abs=5e-4)


def test_negative_gain_weighs_nothing():
    assert ItfIdf().fit(np.array([[1, 8], [1, 0]])).gain_[0] == 0.0


def test_a_term_that_stands_nowhere_gains_nothing():
    assert information_gain(np.array([[1, 0], [1, 0]]))[1] == 0.0


X = sparse.csr_matrix([[2, 1, 0], [2, 0, 1], [2, 0, 0], [2, 0, 0]])


def test_idf_is_the_logarithm_of_documents_over_documents_with_the_term():
    assert ItfIdf().fit(X).idf_ == pytest.approx([0.0, np.log(4), np.log(4)])


def test_weights_are_tfidf_of_length_one_times_gain():
    counts = sparse.csr_matrix([[3, 0, 1, 2], [0, 1, 1, 1], [1, 1, 0, 5]])
    weighting = ItfIdf().fit(counts)
    tf_idf = counts.toarray() * weighting.idf_
    expected = tf_idf * weighting.gain_ / np.sqrt((tf_idf**2).sum(axis=1, keepdims=True))
    assert weighting.transform(counts).toarray() == pytest.approx(expected)


def test_without_gain_it_is_tfidf_of_length_one():
    weights = ItfIdf(use_gain=False).fit_transform(sparse.csr_matrix([[3, 1, 0], [0, 4, 1], [1, 0, 2]]))
    assert np.linalg.norm(weights.toarray(), axis=1) == pytest.approx(1.0)


def test_a_document_without_any_weight_becomes_a_zero_vector():
    assert not ItfIdf().fit_transform(X)[2].toarray().any()


def test_the_weights_of_sections_move_the_gain():
    even, weighted = np.array([[1, 1], [0, 2]]), np.array([[4, 1], [0, 2]])
    assert information_gain(even)[0] != pytest.approx(information_gain(weighted)[0])
