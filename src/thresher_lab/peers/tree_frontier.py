"""TRES's tree frontier: a decision tree over state-actions that splits by reward, with the waiting links in its leaves.

A leaf holds experience, state-actions with their rewards, and samples, waiting state-actions. When new experience makes
a split of the leaf that lowers the variance of the rewards possible, the best split is made. To choose a URL, one
sample is taken from every leaf, so that only one per leaf must be valued.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

import numpy as np
from numpy.typing import NDArray

MAX_DEPTH = 18
MIN_SAMPLES_PER_SPLIT = 5
MAX_SAMPLES = 50_000
"""In all leaves; beyond it the oldest tenth of the largest leaf is dropped."""
MAX_EXPERIENCE = 1_000
"""In one leaf; the oldest is dropped."""

Vector = NDArray[np.float64]


@dataclass(slots=True)
class StateActionSample:
    """A waiting state-action: the URL, its vector, and the path features for its page."""

    url: str
    x: Vector
    path: tuple[int, int, int] = (0, 0, 0)


@dataclass(slots=True)
class TreeNode:
    """A leaf, or a decision between two nodes."""

    depth: int = 0
    experience: list[tuple[Vector, float]] = field(default_factory=list)
    samples: list[StateActionSample] = field(default_factory=list)
    feature: int = -1
    value: float = 0.0
    left: TreeNode | None = None
    right: TreeNode | None = None

    def child_for(self, x: Vector) -> TreeNode | None:
        """Return the child of a vector; None at a leaf."""
        return self.left if x[self.feature] <= self.value else self.right


class TreeFrontier:
    """The tree.

    Args:
        random: Chooses the samples.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._root = TreeNode()
        self.leaves = [self._root]
        self._size = 0

    def add(self, sample: StateActionSample) -> None:
        """Add a sample to its leaf."""
        self._leaf_of(sample.x).samples.append(sample)
        self._size += 1
        if self._size > MAX_SAMPLES:
            fullest = max(self.leaves, key=lambda leaf: len(leaf.samples))
            oldest = max(len(fullest.samples) // 10, 1)
            del fullest.samples[:oldest]
            self._size -= oldest

    def learn(self, x: Vector, reward: float) -> None:
        """Add experience, and split its leaf if that lowers the variance of rewards."""
        leaf = self._leaf_of(x)
        leaf.experience.append((x, reward))
        del leaf.experience[:-MAX_EXPERIENCE]
        if len(leaf.experience) >= MIN_SAMPLES_PER_SPLIT and leaf.depth < MAX_DEPTH:
            X = np.array([each for each, _ in leaf.experience])
            rewards = np.array([each for _, each in leaf.experience])
            feature, value = best_split(X, rewards)
            if feature >= 0:
                self._split(leaf, feature, value)

    def draw(self, waits: Callable[[str], bool]) -> Iterator[StateActionSample]:
        """Return a random sample of every leaf that has one; samples whose URLs no longer wait are dropped."""
        for leaf in self.leaves:
            while leaf.samples:
                place = self._random.randrange(len(leaf.samples))
                if waits(leaf.samples[place].url):
                    yield leaf.samples[place]
                    break
                leaf.samples[place] = leaf.samples[-1]
                leaf.samples.pop()
                self._size -= 1

    def experience(self) -> list[tuple[Vector, float]]:
        """Return all experience."""
        return [each for leaf in self.leaves for each in leaf.experience]

    def _leaf_of(self, x: Vector) -> TreeNode:
        node = self._root
        while node.feature >= 0 and (child := node.child_for(x)):
            node = child
        return node

    def _split(self, leaf: TreeNode, feature: int, value: float) -> None:
        leaf.feature, leaf.value = feature, value
        leaf.left, leaf.right = TreeNode(leaf.depth + 1), TreeNode(leaf.depth + 1)
        for x, reward in leaf.experience:
            (leaf.left if x[feature] <= value else leaf.right).experience.append((x, reward))
        for sample in leaf.samples:
            (leaf.left if sample.x[feature] <= value else leaf.right).samples.append(sample)
        leaf.experience, leaf.samples = [], []
        place = next(place for place, each in enumerate(self.leaves) if each is leaf)
        self.leaves[place : place + 1] = [leaf.left, leaf.right]


def best_split(X: NDArray[np.float64], rewards: NDArray[np.float64]) -> tuple[int, float]:
    """Find the feature and the value whose split lowers the variance of rewards the most; (-1, 0) when none does."""
    best, found = 1e-12, (-1, 0.0)
    for feature in range(X.shape[1]):
        for value in np.unique(X[:, feature])[:-1]:
            reduction = variance_reduction(rewards, X[:, feature] <= value)
            if reduction > best:
                best, found = reduction, (feature, float(value))
    return found


def variance_reduction(rewards: NDArray[np.float64], left: NDArray[np.bool_]) -> float:
    """Return the variance of rewards, minus the weighted variance of both sides."""
    share = float(left.mean())
    return float(rewards.var() - share * rewards[left].var() - (1 - share) * rewards[~left].var())
