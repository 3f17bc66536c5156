"""Logistic regression that learns one example at a time, over hashed features: a bounded number of weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

SLOTS = 1 << 16
"""Weights; two features in one slot share theirs."""
BIAS, PAGE = 0, 1
"""Reserved slots: the bias, and the relevance of the page with the link."""
_OWN_SLOTS = 2
_LARGEST = 30.0


@dataclass(frozen=True, slots=True)
class HashedExample:
    """The features of one link: their slots, each once, and their values."""

    slots: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, names: Iterable[str], page: float) -> HashedExample:
        """Return an example whose names have a joint vector length of 1."""
        hashed = {_OWN_SLOTS + crc32(name.encode("utf-8", "replace")) % (SLOTS - _OWN_SLOTS) for name in names}
        slots = np.array([BIAS, PAGE, *sorted(hashed)], dtype=np.int32)
        values = np.full(len(slots), 1 / sqrt(max(len(hashed), 1)), dtype=np.float32)
        values[BIAS], values[PAGE] = 1.0, page
        return cls(slots, values)


class SparseLogistic:
    """Predicts the probability that a link leads to a relevant page.

    Args:
        rate: The length of a first step; AdaGrad shortens those that follow.
    """

    def __init__(self, *, rate: float = 0.3) -> None:
        self._rate = rate
        self._w = np.zeros(SLOTS, dtype=np.float32)
        self._G = np.zeros(SLOTS, dtype=np.float32)

    def predict(self, examples: Sequence[HashedExample]) -> NDArray[np.float64]:
        """Return the probabilities of some links."""
        if not examples:
            return np.zeros(0)
        rows = np.repeat(np.arange(len(examples)), [len(example.slots) for example in examples])
        slots = np.concatenate([example.slots for example in examples])
        values = np.concatenate([example.values for example in examples])
        return _logistic(np.bincount(rows, weights=self._w[slots] * values, minlength=len(examples)))

    def learn(self, example: HashedExample, target: float) -> None:
        """Take one step of gradient descent on the log-loss, towards a target from 0 to 1."""
        slots, values = example.slots, example.values
        p = _logistic(np.dot(self._w[slots], values))
        gradient = (p - target) * values
        self._G[slots] += gradient**2
        self._w[slots] -= self._rate * gradient / (np.sqrt(self._G[slots]) + 1e-6)

    def encode(self) -> dict[str, Any]:
        """Return the learned state as arrays."""
        used = np.flatnonzero(self._G).astype(np.int32)
        return {"slots": used, "w": self._w[used], "G": self._G[used]}

    def decode(self, arrays: dict[str, Any]) -> None:
        """Restore what `encode` returned.

        Raises:
            ValueError: It is something else.
        """
        slots = arrays["slots"]
        if len(slots) and not 0 <= slots.min() <= slots.max() < SLOTS:
            raise ValueError("a weight has no place")
        self._w[slots], self._G[slots] = arrays["w"], arrays["G"]


def _logistic(margin: Any) -> NDArray[np.float64]:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(margin, -_LARGEST, _LARGEST))))
