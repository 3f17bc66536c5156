"""A small net that is taught to put what is relevant first: one hidden layer beside a straight way through.

Its loss is that of a list (Cao et al. 2007, ListNet with one place): of all URLs that wait at a moment, how likely is
one that was drawn by the net's scores among the relevant ones? Unlike log loss this spends nothing on how unlikely the
many hopeless URLs exactly are. It is minimised by Adam, some lists at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIRST_MOMENT, SECOND_MOMENT, TINY = 0.9, 0.999, 1e-8
"""Adam's constants."""
LAST_RATE = 0.05
"""What is left of the rate in the end."""


@dataclass(frozen=True, kw_only=True)
class Teaching:
    """How a net is taught."""

    hidden: int = 16
    epochs: int = 10
    lists_at_a_time: int = 8
    rate: float = 3e-3
    decay: float = 1e-2
    random_state: int = 0


@dataclass(frozen=True, kw_only=True)
class List:
    """What waits at a moment: features, whether it is relevant, and for how many each of them stands."""

    x: Floats
    y: Floats
    weight: Floats


@dataclass(frozen=True, kw_only=True)
class Taught:
    """A net for features as they are: ``x @ straight + tanh(x @ mixing) @ combined``."""

    straight: Floats
    mixing: Floats
    combined: Floats

    def scores(self, x: Floats) -> Floats:
        """Score URLs."""
        found: Floats = x @ self.straight + np.tanh(x @ self.mixing) @ self.combined
        return found


def taught(lists: Sequence[List], teaching: Teaching) -> Taught:
    """Teach a net; the first feature is a constant 1, which takes up how far features are away from 0."""
    everything = np.concatenate([each.x for each in lists])
    middle, spread = everything.mean(axis=0), everything.std(axis=0) + 1e-6
    middle[0], spread[0] = 0.0, 1.0
    alike = [List(x=(each.x - middle) / spread, y=each.y, weight=each.weight) for each in lists]
    straight, mixing, combined = _descend(alike, teaching)
    return Taught(
        straight=_unscaled(straight, middle, spread), mixing=_unscaled(mixing, middle, spread), combined=combined
    )


def _descend(lists: Sequence[List], teaching: Teaching) -> list[Floats]:
    draw, width = np.random.default_rng(teaching.random_state), lists[0].x.shape[1]
    mixing = draw.normal(size=(width, teaching.hidden)) / np.sqrt(width)
    weights = [np.zeros(width), mixing, np.zeros(teaching.hidden)]
    first, second = [np.zeros_like(each) for each in weights], [np.zeros_like(each) for each in weights]
    many = teaching.lists_at_a_time
    steps = max(1, teaching.epochs * (len(lists) // many))
    order = np.concatenate([draw.permutation(len(lists))[: len(lists) // many * many] for _ in range(teaching.epochs)])
    for step in range(1, steps + 1):
        some = [lists[number] for number in order[(step - 1) * many : step * many]]
        rate = teaching.rate * (1 - (1 - LAST_RATE) * step / steps)
        for number, slope in enumerate(_slopes(some, weights)):
            slope = slope + teaching.decay * weights[number]
            first[number] = FIRST_MOMENT * first[number] + (1 - FIRST_MOMENT) * slope
            second[number] = SECOND_MOMENT * second[number] + (1 - SECOND_MOMENT) * slope**2
            way, pace = first[number] / (1 - FIRST_MOMENT**step), second[number] / (1 - SECOND_MOMENT**step)
            weights[number] = weights[number] - rate * way / (np.sqrt(pace) + TINY)
    return weights


def _slopes(lists: Sequence[List], weights: Sequence[Floats]) -> list[Floats]:
    """Give how the loss changes with each weight."""
    straight, mixing, combined = weights
    x = np.concatenate([each.x for each in lists])
    hidden = np.tanh(x @ mixing)
    scores = np.split(x @ straight + hidden @ combined, np.cumsum([len(each.y) for each in lists])[:-1])
    wrong = np.concatenate([_wrong(one, each) for one, each in zip(scores, lists, strict=True)]) / len(lists)
    back = np.outer(wrong, combined) * (1 - hidden**2)
    return [x.T @ wrong, x.T @ back, hidden.T @ wrong]


def _wrong(scores: Floats, wanted: List) -> Floats:
    """Give by how much each URL of a list is drawn too often."""
    drawn = np.exp(scores - scores.max()) * wanted.weight
    wrong: Floats = drawn / drawn.sum() - wanted.y / wanted.y.sum()
    return wrong


def _unscaled(weights: Floats, middle: Floats, spread: Floats) -> Floats:
    """Turn weights for features in units of their spread into weights for features as they are."""
    plain = (weights.T / spread).T
    plain[0] -= middle @ plain
    return plain
