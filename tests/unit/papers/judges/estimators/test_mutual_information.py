"""A term is kept for its best class, unless it is rare."""

import numpy as np
import pytest
from scipy import sparse

from thresher_papers.judges.estimators.mutual_information import MutualInformationPruner

# Columns: in all documents of class 0, in one of each class, in all documents, in one document of class 1.
X = np.array([[3, 1, 1, 0], [1, 0, 2, 0], [0, 1, 1, 5], [0, 0, 4, 0]])
Y = ["a", "a", "b", "b"]


def prune(**parameters):
    return MutualInformationPruner(**{"min_document_frequency": 1, **parameters}).fit(sparse.csr_matrix(X), Y)


def test_mutual_information_counts_documents_not_occurrences():
    # p(t,C) / (p(t) p(C)): .5 / (.5 x .5) = 2; .25 / (.5 x .5) = 1; .5 / (1 x .5) = 1; .25 / (.25 x .5) = 2
    assert prune().mutual_information_ == pytest.approx(np.log([2, 1, 1, 2]))


def test_the_best_class_counts_and_a_class_without_the_term_does_not():
    assert np.isfinite(prune().mutual_information_).all()


def test_equal_terms_are_kept_by_frequency():
    assert prune(k=1).get_support(indices=True).tolist() == [0]
    assert prune(k=3).get_support(indices=True).tolist() == [0, 2, 3]


def test_terms_in_few_documents_are_left_out_first():
    assert prune(min_document_frequency=2, k=2).get_support(indices=True).tolist() == [0, 2]


def test_a_threshold_keeps_only_what_lies_above_it():
    assert prune(threshold=0.0).get_support(indices=True).tolist() == [0, 3]


def test_a_term_that_stands_nowhere_is_never_kept():
    pruner = MutualInformationPruner(min_document_frequency=0).fit(np.array([[1, 0], [1, 0]]), Y[1:3])
    assert pruner.get_support().tolist() == [True, False]


def test_eight_thousand_terms_in_three_documents_are_the_default():
    assert MutualInformationPruner().get_params() == {"k": 8_000, "threshold": None, "min_document_frequency": 3}
