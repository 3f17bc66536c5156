"""Sparse vectors as plain mappings from term to weight."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from operator import mul

Vector = Mapping[str, float]
"""A weight for each term that has one; all others weigh 0."""


def dot(a: Vector, b: Vector) -> float:
    """Multiply term by term and add up."""
    if len(a) > len(b):
        a, b = b, a
    return sum(weight * b[term] for term, weight in a.items() if term in b)


def norm(vector: Vector) -> float:
    """Give the Euclidean length."""
    weights = vector.values()
    return sqrt(sum(map(mul, weights, weights)))


def cosine(a: Vector, b: Vector) -> float:
    """Give the cosine of the angle between two vectors; 0 when one of them is empty."""
    product = dot(a, b)
    return product / (norm(a) * norm(b)) if product else 0.0


def unit(vector: Vector) -> dict[str, float]:
    """Scale a vector to length 1; one without weight becomes empty."""
    length = norm(vector)
    return {term: weight / length for term, weight in vector.items()} if length else {}
