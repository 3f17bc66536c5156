"""Chi-square is that of the table of documents, and only terms that speak for a class are kept."""

import numpy as np
import pytest
from scipy import sparse

from thresher_papers.judges.estimators.chi_square import ChiSquareSelector, chi_square


def test_chi_square_is_that_of_the_table():
    # A 8, B 2, C 2, D 8: 20 (64 - 4)^2 / 10^4 = 7.2
    assert chi_square(np.array([8.0]), np.array([10.0]), size=10, N=20) == pytest.approx([7.2])


def test_a_term_that_speaks_against_the_class_has_none():
    assert chi_square(np.array([2.0]), np.array([10.0]), size=10, N=20) == [0.0]


def test_a_term_in_all_documents_has_none():
    assert chi_square(np.array([10.0]), np.array([20.0]), size=10, N=20) == [0.0]


X = sparse.csr_matrix(
    [
        # for a, for a less surely, everywhere, for b
        [9, 1, 1, 0],
        [1, 1, 1, 0],
        [1, 0, 1, 0],
        [0, 1, 1, 1],
        [0, 0, 1, 1],
        [0, 0, 1, 7],
    ]
)
Y = ["a", "a", "a", "b", "b", "b"]


def test_each_class_keeps_its_best_terms_and_the_choices_are_united():
    assert ChiSquareSelector(per_class=1).fit(X, Y).get_support(indices=True).tolist() == [0, 3]


def test_terms_that_speak_for_no_class_are_not_kept():
    assert ChiSquareSelector(per_class=10).fit(X, Y).get_support(indices=True).tolist() == [0, 1, 3]


def test_counts_beyond_one_do_not_matter():
    often = ChiSquareSelector(per_class=2).fit(X, Y).get_support()
    once = ChiSquareSelector(per_class=2).fit(X > 0, Y).get_support()
    assert (often == once).all()
