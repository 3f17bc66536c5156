"""Queues by distance from the topic, folded into the one number that the frontier orders by.

Queue k holds links of pages that are k links away from a target, N + 1 those of all others. The first queue that is
not empty is always served first.
"""

from __future__ import annotations

BELOW_ONE = 0.999_999
"""A likeness of 1 must not reach the place before."""

SEED_SCORE = 1.0
"""Above every queue: whoever names a page wants it fetched."""


def queue_score(k: int, N: int, within: float = 0.0) -> float:
    """Give the score of a link in queue k, by a value from 0 to 1 within the queue; from 0 to below 1."""
    return (N + 1 - k + min(within, BELOW_ONE)) / (N + 2)


def layered_score(k: int, i: int, sim: float, N: int) -> float:
    """Give the score of a link in queue k that is likest to the links into layer i; from 0 to below 1.

    Within the queue lower layers come first, within a layer the greater similarity.
    """
    return ((N + 1 - k) * (N + 2) + (N + 1 - i) + min(sim, BELOW_ONE)) / (N + 2) ** 2
