"""A prior is read by the names of its features."""

import json

import numpy as np

from thresher.strategies.link_model.model import NAMES, PRIOR, read_prior

SMALL = {
    "recipe": "",
    "topics": 1,
    "features": {
        "bias": {"weight": -1.0, "hold": 2.0, "mixing": [0.5, 0.0]},
        "old": {"weight": 9.0, "hold": 9.0, "mixing": [9.0, 9.0]},
    },
    "combinations": [{"weight": 3.0, "hold": 4.0}, {"weight": 0.0, "hold": 1.0}],
}


def test_unknown_features_weigh_nothing_and_forgotten_ones_are_left_out(tmp_path):
    path = tmp_path / "prior.json"
    path.write_text(json.dumps(SMALL))
    prior = read_prior(str(path), ["bias", "new"], prior_strength=10.0)
    assert prior.weights.tolist() == [-1.0, 0.0, 3.0, 0.0]
    assert prior.prior_strength.tolist() == [20.0, 10.0, 40.0, 10.0]
    assert prior.mixing.tolist() == [[0.5, 0.0], [0.0, 0.0]]


def test_combinations_follow_the_features():
    prior = read_prior(PRIOR, NAMES)
    x = np.ones((3, len(NAMES)))
    wide = prior.with_combinations(x)
    assert wide.shape == (3, len(prior.weights))
    assert np.abs(wide[:, len(NAMES) :]).max() <= 1.0
