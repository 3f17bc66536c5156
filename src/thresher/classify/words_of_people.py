"""What people say of pages, and how it bends a topic's vector: regression on what the judge got wrong.

A yes or no says more than that one page is or is not about the topic: pages like it are probably the same. So what
people say is held against the height ``h = (s − middle) / (level − middle)`` that the judge gives a page unaided, and
what is between the two is spread over all pages, the more the more alike they are:

    e_i  = max(aim_yes − h_i, 0) for a yes,  min(aim_no − h_i, 0) for a no
    a    = (K + noise)⁻¹ e,   K_ij = z_i · z_j
    h(z) = h_before(z) + z · v,   v = Σ a_i z_i

This is the posterior mean of a Gaussian process whose prior mean is the judge without labels: where nobody spoke of a
like page it judges as before, one word moves little, and words that contradict each other cancel out. As v is a vector
of terms, judging costs what it did, and every term can still say what it counts.

Probability and verdict follow h in both directions. The reward of strategies is the greater of what it was before and
after: a page that is near the topic without being about it may still lead to the topic.

The aims lie beyond what a good page (1) and an ordinary one (0) have: a page that was refused though it looked good,
and one that was taken though it looked poor, move more than those that only confirm. That yes and no are not simply
added to the seeds has a reason: those that people are asked about are the likely ones, and their mean is a narrower
topic than the seeds meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thresher.classify.rows import Matrix, Weights


@dataclass(frozen=True, kw_only=True)
class Words:
    """What people said of the pages of a sample, by their rows."""

    yes: Sequence[int] = ()
    no: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True)
class Aims:
    """What was chosen on dev topics; `docs/explanation/labels.md` says how."""

    yes: float = 1.5
    no: float = -0.5
    noise: float = 0.3


def errors(heights: Weights, words: Words, aims: Aims) -> Weights:
    """Say by how much the heights of the pages with a yes, then of those with a no, miss their aim."""
    short = np.maximum(aims.yes - heights[list(words.yes)], 0.0)
    beyond = np.minimum(aims.no - heights[list(words.no)], 0.0)
    return np.concatenate([short, beyond])


def bend(pages: Matrix, missed: Weights, noise: float, *, terms: int) -> Weights:
    """Return v.

    Args:
        pages: The pages z that were spoken of, each of length 1.
        missed: By how much the height of each missed its aim.
        terms: How many terms have numbers.
    """
    likeness = np.empty((len(missed), len(missed)))
    page = np.zeros(terms)
    for row, first, last in zip(likeness, pages.starts[:-1], pages.starts[1:], strict=True):
        own = pages.numbers[first:last]
        page[own] = pages.weights[first:last]
        row[:] = pages.sums(page.take(pages.numbers) * pages.weights)
        page[own] = 0.0
    amounts = np.linalg.solve(likeness + noise * np.eye(len(missed)), missed).astype(np.float64)
    return np.bincount(pages.numbers, pages.per_term(amounts) * pages.weights, minlength=terms).astype(np.float64)
