"""Queues, layers and likeness in one number, in this order."""

from itertools import pairwise, product

import pytest

from thresher_papers.strategies.layers.model import layered_score, queue_score

N = 4


def test_nearer_queues_come_first_whatever_stands_in_them():
    scores = [queue_score(k, N, within) for k in range(N + 2) for within in (1.0, 0.5, 0.0)]
    assert scores == sorted(scores, reverse=True)
    assert (queue_score(N + 1, N), queue_score(0, N)) == (0.0, pytest.approx(5 / 6))


def test_queue_then_layer_then_similarity():
    places = list(product(range(N + 2), range(N + 2), (1.0, 0.7, 0.2, 0.0)))
    scores = [layered_score(k, i, sim, N) for k, i, sim in places]
    assert all(better > worse for better, worse in pairwise(scores))


def test_the_worked_number():
    assert layered_score(1, 2, 0.5, N) == pytest.approx((4 * 6 + 3 + 0.5) / 36)


def test_all_scores_lie_from_0_to_below_1():
    assert layered_score(0, 0, 1.0, N) < 1.0
    assert queue_score(0, N, 1.0) < 1.0
    assert layered_score(N + 1, N + 1, 0.0, N) == 0.0
