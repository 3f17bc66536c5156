"""A page stands in a layer, or in none when no layer is likely enough."""

import numpy as np
import pytest

from thresher_papers.judges.estimators.layers import OTHER, LayerClassifier

RANDOM = np.random.default_rng(0)
Y = np.repeat(np.arange(5), 100)  # layers 0 to 4
RATES = np.full((5, 30), 0.3) + 2.0 * np.kron(np.eye(5), np.ones(6))
X = RANDOM.poisson(RATES[Y]).astype(float)


@pytest.fixture
def layers():
    return LayerClassifier(random_state=0).fit(X, Y)


def test_there_is_a_class_for_every_distance(layers):
    assert layers.classes_.tolist() == [0, 1, 2, 3, 4]


def test_layers_are_distinguished_by_their_words(layers):
    assert (layers.predict(X) == Y).mean() > 0.95


def test_a_page_unlike_all_layers_is_other(layers):
    assert layers.predict_layers(np.ones((1, 30))).tolist() == [OTHER]


def test_about_a_tenth_of_pages_like_the_training_pages_are_rejected(layers):
    # The final model has seen more pages than the one that the threshold was found with, and is a little surer.
    fresh = np.random.default_rng(1).poisson(np.repeat(RATES, 200, axis=0)).astype(float)
    assert (layers.predict_layers(fresh) == OTHER).mean() == pytest.approx(0.1, abs=0.06)


def test_with_nothing_to_reject_every_page_has_a_layer():
    layers = LayerClassifier(reject=0.0, random_state=0).fit(X, Y)
    assert OTHER not in layers.predict_layers(X)


def test_terms_that_speak_for_no_layer_play_no_part():
    common = np.hstack([X, np.ones((len(X), 1))])
    assert not LayerClassifier(random_state=0).fit(common, Y).support_[-1]
