"""Sparse vectors as plain mappings from term to weight."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from operator import mul

Vector = Mapping[str, float]
"""Weights by term; missing terms have the weight 0."""


def dot(a: Vector, b: Vector) -> float:
    """Return the dot product."""
    if len(a) > len(b):
        a, b = b, a
    return sum(weight * b[term] for term, weight in a.items() if term in b)


def norm(vector: Vector) -> float:
    """Return the Euclidean norm."""
    weights = vector.values()
    return sqrt(sum(map(mul, weights, weights)))


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of the angle between two vectors; 0 when one of them is empty."""
    product = dot(a, b)
    return product / (norm(a) * norm(b)) if product else 0.0


def unit(vector: Vector) -> dict[str, float]:
    """Normalize a vector to length 1; a zero vector becomes empty."""
    length = norm(vector)
    return {term: weight / length for term, weight in vector.items()} if length else {}
