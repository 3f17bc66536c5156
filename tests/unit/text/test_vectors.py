"""Sparse vectors are compared by their angle."""

import pytest

from thresher.text.vectors import cosine, dot, norm, unit


def test_the_cosine_is_one_for_one_direction_and_zero_for_nothing_in_common():
    assert cosine({"a": 1, "b": 2}, {"a": 2, "b": 4}) == pytest.approx(1)
    assert cosine({"a": 1}, {"b": 1}) == 0
    assert cosine({}, {"b": 1}) == cosine({"b": 1}, {}) == cosine({"a": 0.0}, {"a": 1}) == 0


def test_the_cosine_counts_what_two_vectors_share():
    assert cosine({"a": 1, "b": 1}, {"a": 1, "c": 1}) == pytest.approx(0.5)


def test_a_product_does_not_depend_on_the_order():
    assert dot({"a": 2, "b": 3, "c": 1}, {"a": 4}) == dot({"a": 4}, {"a": 2, "b": 3, "c": 1}) == 8


def test_a_unit_vector_keeps_the_direction_and_has_length_one():
    assert unit({"a": 3, "b": 4}) == pytest.approx({"a": 0.6, "b": 0.8})
    assert norm(unit({"a": 3, "b": 4})) == pytest.approx(1)
    assert unit({}) == unit({"a": 0}) == {}
