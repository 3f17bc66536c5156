"""The network: its gradient by hand, what it can learn, and how its weights move house."""

import numpy as np
import pytest

from thresher_lab.peers import tres as module
from thresher_lab.peers.tres import QNetwork


def loss(network, X, y):
    return float(((network.predict(X) - y) ** 2).mean())


def test_the_gradient_is_that_of_the_squared_loss(monkeypatch):
    monkeypatch.setattr(module, "CLIP", np.inf)
    network = QNetwork(3, rate=0.01, random_state=1)
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(5, 3)), draw.normal(size=5)
    found = []
    monkeypatch.setattr(network, "_adam", found.extend)
    network.learn(X, y)
    for place, weight in enumerate(network._weights):
        at = (0,) * weight.ndim
        before, step = weight[at], 1e-6
        weight[at] = before + step
        above = loss(network, X, y)
        weight[at] = before - step
        below = loss(network, X, y)
        weight[at] = before
        assert found[place][at] == pytest.approx((above - below) / (2 * step), abs=1e-5)


def test_it_learns_what_no_line_can_part():
    network = QNetwork(2, rate=0.01, random_state=0)
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0.0, 1, 1, 0])
    for _ in range(1000):
        network.learn(X, y)
    assert network.predict(X).round(1).tolist() == [0, 1, 1, 0]


def test_the_same_seed_gives_the_same_weights():
    one, same, other = (QNetwork(2, rate=0.01, random_state=state).weights()[0] for state in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_weights_are_copied_and_must_fit():
    one, two = QNetwork(2, rate=0.01, random_state=1), QNetwork(2, rate=0.01, random_state=2)
    two.set_weights(one.weights())
    X = np.ones((1, 2))
    assert two.predict(X) == one.predict(X)
    one.learn(X, np.array([5.0]))
    assert two.predict(X) != one.predict(X)
    with pytest.raises(ValueError, match="another network"):
        QNetwork(3, rate=0.01, random_state=1).set_weights(one.weights())
