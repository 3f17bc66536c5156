"""Logistic regression over hashed features: one step by hand, and what many lead to."""

import numpy as np
import pytest

from thresher_lab.peers.apprentice import BIAS, PAGE, SLOTS, HashedExample, SparseLogistic


def test_features_have_the_length_one_together():
    example = HashedExample.of(["a", "b", "c", "d", "a"], 0.3)
    assert example.values.tolist() == pytest.approx([1.0, 0.3, 0.5, 0.5, 0.5, 0.5])
    assert example.slots[:2].tolist() == [BIAS, PAGE]


def test_a_link_without_words_has_a_page():
    assert HashedExample.of([], 0.3).slots.tolist() == [BIAS, PAGE]


def test_the_first_step_has_the_length_of_the_rate():
    model, example = SparseLogistic(rate=0.3), HashedExample.of([], 1.0)
    assert model.predict([example]).tolist() == [0.5]
    model.learn(example, 1.0)  # both weights go up by .3: g/√g² = 1
    assert model.predict([example])[0] == pytest.approx(1 / (1 + np.exp(-0.6)), abs=1e-4)


def test_words_are_distinguished():
    model = SparseLogistic()
    solar, tea = HashedExample.of(["solar"], 1.0), HashedExample.of(["tea"], 1.0)
    for _ in range(30):
        model.learn(solar, 1.0)
        model.learn(tea, 0.0)
    likely, unlikely = model.predict([solar, tea])
    assert likely > 0.8
    assert unlikely < 0.2
    assert model.predict([]).tolist() == []


def test_what_was_learned_can_be_taken_up():
    model, again = SparseLogistic(), SparseLogistic()
    example = HashedExample.of(["solar"], 1.0)
    model.learn(example, 1.0)
    again.decode(model.encode())
    assert again.predict([example]) == model.predict([example])


def test_weights_without_a_place_are_refused():
    with pytest.raises(ValueError, match="no place"):
        SparseLogistic().decode({"slots": np.array([SLOTS]), "w": np.zeros(1), "G": np.zeros(1)})
