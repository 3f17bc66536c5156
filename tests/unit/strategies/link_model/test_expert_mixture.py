import numpy as np
import pytest

from thresher.strategies.link_model.model import CLASSICS, NAMES, ExpertMixture


def url(**values):
    return np.array([float(values.get(name, 0.0)) for name in NAMES])


def test_at_first_the_model_has_most_to_say():
    weights = ExpertMixture().weights
    assert weights["learned"] > 0.8
    assert set(weights) == {"learned", *CLASSICS}


def test_a_model_that_foresees_well_keeps_its_say():
    net = ExpertMixture()
    for number in range(100):
        net.learn(url(rel_max=number % 2), 0.9 if number % 3 == 0 else 0.1, float(number % 3 == 0))
    assert net.weights["learned"] > 0.9


def test_a_model_that_foresees_the_opposite_loses_its_say_within_a_few_pages():
    net = ExpertMixture()
    for number in range(30):
        net.learn(url(rel_max=number % 2, rel_mean=number % 2), 1.0 - number % 2, float(number % 2))
    assert net.weights["learned"] < 0.1
    good, bad = net.mix(np.stack([url(rel_max=1, rel_mean=1), url()]), np.array([0.01, 0.99]))
    assert good > bad


def test_a_model_that_comes_to_its_senses_gets_its_say_back():
    net = ExpertMixture()
    for number in range(50):
        net.learn(url(rel_max=number % 2), 1.0 - number % 2, float(number % 2))
    for number in range(200):
        net.learn(url(rel_max=number % 2), 0.95 if number % 3 == 0 else 0.05, float(number % 3 == 0))
    assert net.weights["learned"] > 0.8


def test_a_classic_is_never_read_upside_down():
    net = ExpertMixture()
    for _ in range(200):
        net.learn(url(rel_max=1.0), 0.5, 0.0)
    high, low = net.mix(np.stack([url(rel_max=1), url()]), np.array([0.5, 0.5]))
    assert high > low


def test_a_restart_keeps_what_each_expert_has_to_say():
    net, again, old = ExpertMixture(), ExpertMixture(), ExpertMixture()
    for number in range(30):
        net.learn(url(rel_max=number % 2), 1.0 - number % 2, float(number % 2))
    again.restore(net.state())
    assert again.weights == net.weights
    old.restore({})  # notes of an earlier version
    assert old.weights == ExpertMixture().weights
    with pytest.raises(ValueError, match="classics"):
        old.restore({**net.state(), "net_say": np.ones(2)})
