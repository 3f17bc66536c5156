"""A small network that gives the value of a state-action, in place of TRES's Keras model: the same layers, in numpy.

Dense layers of 30 and 15 with leaky ReLU, then one number; squared loss; Adam with clipped gradients.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

LAYERS = (30, 15, 1)
LEAK = 0.1
CLIP = 1.0
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7
"""Adam's own."""

Matrix = NDArray[np.float64]


class QNetwork:
    """Q(s, a), learned step by step.

    Args:
        inputs: The length of a state-action vector.
        rate: Adam's learning rate.
        random_state: The same number gives the same first weights.
    """

    def __init__(self, inputs: int, *, rate: float, random_state: int) -> None:
        self._rate = rate
        rng = np.random.default_rng(random_state)
        sizes = (inputs, *LAYERS)
        self._weights: list[Matrix] = []
        for fan_in, fan_out in pairwise(sizes):
            limit = np.sqrt(6 / (fan_in + fan_out))  # Glorot's, Keras's default
            self._weights += [rng.uniform(-limit, limit, (fan_in, fan_out)), np.zeros(fan_out)]
        self._means = [np.zeros_like(weight) for weight in self._weights]
        self._squares = [np.zeros_like(weight) for weight in self._weights]
        self._steps = 0

    def predict(self, X: Matrix) -> Matrix:
        """Return the value of each row."""
        return self._forward(X)[-1][:, 0]

    def learn(self, X: Matrix, y: Matrix) -> None:
        """Take one gradient step on a batch."""
        outputs = self._forward(X)
        delta = 2 * (outputs[-1] - y[:, None]) / len(y)
        gradients: list[Matrix] = []
        for layer in reversed(range(len(LAYERS))):
            below = outputs[layer]
            gradients = [below.T @ delta, delta.sum(axis=0), *gradients]
            delta = delta @ self._weights[2 * layer].T
            if layer:  # derivative of the layer below
                delta = delta * np.where(below > 0, 1.0, LEAK)
        self._adam([np.clip(gradient, -CLIP, CLIP) for gradient in gradients])

    def weights(self) -> list[Matrix]:
        """Return a copy of the weights."""
        return [weight.copy() for weight in self._weights]

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the weights.

        Raises:
            ValueError: They have other shapes.
        """
        if [weight.shape for weight in weights] != [weight.shape for weight in self._weights]:
            raise ValueError("the weights are those of another network")
        self._weights = [np.array(weight, dtype=np.float64) for weight in weights]

    def _forward(self, X: Matrix) -> list[Matrix]:
        """Return the input and the output of each layer."""
        outputs = [np.asarray(X, dtype=np.float64)]
        for layer in range(len(LAYERS)):
            raw = outputs[-1] @ self._weights[2 * layer] + self._weights[2 * layer + 1]
            is_last = layer == len(LAYERS) - 1
            outputs.append(raw if is_last else np.where(raw > 0, raw, LEAK * raw))
        return outputs

    def _adam(self, gradients: list[Matrix]) -> None:
        self._steps += 1
        step = self._rate * np.sqrt(1 - BETA_2**self._steps) / (1 - BETA_1**self._steps)
        for place, gradient in enumerate(gradients):
            self._means[place] += (1 - BETA_1) * (gradient - self._means[place])
            self._squares[place] += (1 - BETA_2) * (gradient**2 - self._squares[place])
            self._weights[place] -= step * self._means[place] / (np.sqrt(self._squares[place]) + EPSILON)
