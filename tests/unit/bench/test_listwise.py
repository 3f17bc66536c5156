"""A net learns to put the relevant first, also where no straight weights could."""

import numpy as np
import pytest

from bench.effectiveness.listwise import List, Teaching, taught


def lists(rule, count=60, size=40):
    draw = np.random.default_rng(1)
    for _ in range(count):
        x = np.column_stack([np.ones(size), 5 + 3 * draw.normal(size=(size, 2))])
        y = rule(*((x[:, 1:] - 5) / 3).T).astype(float)
        if 0 < y.sum() < size:
            yield List(x=x, y=y, weight=np.full(size, 1 / size))


def first_is_relevant(net, some):
    return np.mean([each.y[np.argmax(net.scores(each.x))] for each in some])


def test_straight_weights_are_learned_for_features_as_they_are():
    some = list(lists(lambda a, b: a > 1))
    net = taught(some, Teaching(hidden=0, epochs=40, rate=0.02))
    assert net.straight[1] > abs(net.straight[2])
    assert first_is_relevant(net, some) == 1.0


@pytest.mark.parametrize(("hidden", "enough"), [(0, False), (16, True)])
def test_combinations_need_hidden_units(hidden, enough):
    some = list(lists(lambda a, b: a * b > 1))
    net = taught(some, Teaching(hidden=hidden, epochs=100, rate=0.02))
    assert bool(first_is_relevant(net, some) > 0.9) == enough


def test_the_same_lists_teach_the_same():
    some = list(lists(lambda a, b: a > b))
    one, other = (taught(some, Teaching(epochs=2)) for _ in range(2))
    assert one.straight.tolist() == other.straight.tolist()
