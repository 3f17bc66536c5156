"""What people say bends a topic's vector: by what the judge got wrong, and towards pages that are alike."""

import numpy as np
import pytest

from thresher.judges.adaptive.label_correction import LabelledRows, LabelTargets, correction_vector, errors
from thresher.judges.adaptive.terms import Matrix


def pages(*rows):
    """Put pages on end, each given by its terms and weights."""
    numbers = np.concatenate([np.array(list(row), dtype=np.intp) for row in rows])
    weights = np.concatenate([np.array(list(row.values()), dtype=np.float64) for row in rows])
    return Matrix(numbers=numbers, weights=weights, starts=np.cumsum([0, *map(len, rows)]), pages=np.ones(len(rows)))


def test_a_yes_misses_what_it_lacks_and_a_no_what_it_has_too_much():
    missed = errors(
        np.array([0.5, 0.25, 2.0, -1.0]), LabelledRows(yes=[0, 2], no=[1, 3]), LabelTargets(yes=1.5, no=-0.5)
    )
    assert missed.tolist() == [1.0, 0.0, -0.75, 0.0]


def test_one_page_moves_by_its_error_less_the_noise():
    v = correction_vector(pages({0: 0.6, 1: 0.8}), np.array([1.0]), 0.25, terms=3)
    assert v == pytest.approx([0.6 / 1.25, 0.8 / 1.25, 0.0])


def test_without_noise_every_word_is_met():
    spoken = pages({0: 1.0}, {0: 0.6, 1: 0.8})
    v = correction_vector(spoken, np.array([1.0, -0.5]), 1e-12, terms=2)
    assert spoken.sums(v[spoken.numbers] * spoken.weights) == pytest.approx([1.0, -0.5])


def test_words_that_contradict_each_other_cancel_out():
    v = correction_vector(pages({0: 1.0}, {0: 1.0}), np.array([1.0, -1.0]), 0.3, terms=1)
    assert v == pytest.approx([0.0])


def test_an_empty_page_teaches_nothing():
    v = correction_vector(pages({}, {0: 1.0}), np.array([1.0, 1.0]), 1.0, terms=2)
    assert v == pytest.approx([0.5, 0.0])
