import numpy as np
import pytest

from thresher.strategies.link_model.model import NAMES, Model, Prior, sigmoid
from thresher.strategies.link_model.term_model import NAME_FEATURES


def prior(*weights, prior_strength=1.0, mixing=None):
    mixed = np.zeros((len(weights), 0)) if mixing is None else np.array(mixing)
    return Prior(weights=np.array(weights), prior_strength=np.full(len(weights), prior_strength), mixing=mixed)


def model(most=2000, prior_strength=1.0):
    return Model(prior(-1.0, 2.0, prior_strength=prior_strength), most=most)


def taught(model, pairs):
    for key, (value, relevance) in enumerate(pairs):
        model.add(key, np.array([1.0, value]), relevance)
    for _ in range(5):
        model.fit()
    return model


def test_without_examples_the_weights_are_the_prior_ones():
    one = model()
    one.fit()
    assert one.weights.tolist() == [-1.0, 2.0]


def test_examples_move_the_weights_and_the_prior_holds_them():
    against = [(1.0, 0.0), (0.0, 1.0)] * 20
    loose, held = taught(model(prior_strength=0.1), against), taught(model(prior_strength=1000.0), against)
    assert loose.weights[1] < 0
    assert held.weights[1] > 1.5


def test_the_weights_are_those_of_the_least_loss():
    one = taught(model(), [(1.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.5, 0.7)])
    x, r = np.array([[1, 1], [1, 1], [1, 0], [1, 0.5]]), np.array([1, 0, 0, 0.7])
    gradient = x.T @ (sigmoid(x @ one.weights) - r) + (one.weights - [-1, 2])
    assert np.abs(gradient).max() < 1e-3


def test_only_the_latest_examples_count():
    one = taught(model(most=40, prior_strength=0.1), [(1.0, 0.0)] * 100 + [(1.0, 1.0)] * 40)
    assert sigmoid(one.weights.sum()) > 0.8


def test_a_second_thought_changes_the_example():
    one = taught(model(prior_strength=0.1), [(1.0, 0.0)] * 10)
    for key in range(10):
        one.revise(key, 1.0)
    one.revise(77, 1.0)
    for _ in range(5):
        one.fit()
    assert sigmoid(one.weights.sum()) > 0.8


def test_a_restart_goes_on_with_weights_and_examples():
    one, other = taught(model(), [(1.0, 0.0), (0.5, 1.0)]), model()
    other.restore(one.state())
    assert other.weights.tolist() == one.weights.tolist()
    assert other.count == 2
    with pytest.raises(ValueError, match="of other features"):
        Model(prior(0.0, 0.0, 0.0)).restore(one.state())


def test_a_combination_of_features_is_weighed_too_and_learned_from():
    both = Prior(
        weights=np.array([0.0, 0.0, 0.0, 1.0]), prior_strength=np.ones(4), mixing=np.array([[-1.5], [1.0], [1.0]])
    )
    one = Model(both)
    x = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    assert one.predict(x).tolist() == pytest.approx(sigmoid(np.tanh([0.5, -0.5])).tolist())
    for key in range(20):
        one.add(key, x[key % 2], float(key % 2))
    one.fit()
    assert one.weights[3] < 1.0
    assert one.predict(x[0]) < one.predict(x[1])


def test_the_parts_of_a_score_add_up_to_it_and_each_feature_has_its_share_of_the_combinations():
    both = Prior(
        weights=np.array([-1.0, 0.5, 0.0, 2.0]), prior_strength=np.ones(4), mixing=np.array([[-1.5], [1.0], [2.0]])
    )
    one = Model(both)
    x = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    parts = one.parts(x)
    assert sigmoid(parts.sum(axis=1)).tolist() == pytest.approx(one.predict(x).tolist(), abs=0.005)
    assert parts[0, 2] > parts[0, 1] > 0.5
    assert parts[2, 1:].tolist() == [0, 0]
    assert len(set(parts[:, 0].tolist())) == 1


def wide_model(*, mixing=0.5):
    width = len(NAMES)
    combined = np.full((width, 1), mixing)
    return Model(Prior(weights=np.zeros(width + 1), prior_strength=np.ones(width + 1), mixing=combined))


def learned_wide():
    one = wide_model()
    for key in range(20):
        one.add(key, np.arange(len(NAMES)) / 40 * (key % 2), float(key % 2))
    one.fit()
    return one


def test_examples_of_a_version_without_name_features_are_learned_from_again():
    state, place = learned_wide().state(), NAMES.index(NAME_FEATURES[0])
    columns = np.arange(place, place + len(NAME_FEATURES))
    old = {"x": np.delete(state["x"], columns, axis=1), "r": state["r"], "keys": state["keys"]}
    restored = wide_model()
    restored.restore({**old, "weights": np.zeros(1)})
    assert restored.count == 20
    assert restored._x[1, columns].tolist() == [0.0] * len(columns)
    assert restored.predict(learned_wide()._x[1]) > 0.6


def test_under_another_prior_the_weights_are_fitted_again():
    state = learned_wide().state()
    same, other = wide_model(), wide_model(mixing=-0.5)
    same.restore(state)
    other.restore(state)
    assert same.weights.tolist() == state["weights"].tolist()
    assert other.weights[-1] != state["weights"][-1]
    assert other.predict(learned_wide()._x[1]) > 0.6
