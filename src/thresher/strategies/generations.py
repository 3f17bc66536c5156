"""Links in generations: all that one generation of pages brings waits until that generation is fetched.

The frontier knows one number per URL, so the generation is folded into it, before the score.
"""

from __future__ import annotations

from thresher.records import Carry, Lease

BELOW_ONE = 0.999_999
"""A score of 1 must not reach the generation before."""


def generation_of(carry: Carry) -> int:
    """Read the generation of a URL from what it carries; seeds carry nothing and are generation 0."""
    generation = carry.get("generation", 0)
    return generation if isinstance(generation, int) else 0


def next_generation(lease: Lease) -> dict[str, int]:
    """Give what the links of a page carry: they are the children of the page's generation."""
    return {"generation": generation_of(lease.carry) + 1}


def fold(generation: int, score: float) -> float:
    """Put a generation before a score from 0 to 1: whatever it scores, an earlier generation comes first."""
    return min(score, BELOW_ONE) - generation
