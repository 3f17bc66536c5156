"""Correction of the topic vector by labels, for rewards and explanations: regression on the errors of the judge.

A label also applies to similar pages. So the label is compared with the height ``h = (s − middle) / (level − middle)``
that the judge gives a page without labels, and the error is spread over all pages by their similarity:

    e_i  = max(aim_yes − h_i, 0) for a yes,  min(aim_no − h_i, 0) for a no
    a    = (K + diag(noise / w))⁻¹ e,   K_ij = z_i · z_j
    h(z) = h_before(z) + z · v,   v = Σ a_i z_i

This is the posterior mean of a Gaussian process whose prior mean is the judge without labels: pages unlike all labelled
ones are judged as before, a single label changes little, and contradicting labels cancel out. As v is a vector of
terms, judging costs the same, and the weight of every term can still be explained.

The reward of strategies is the maximum of the value before and after: a page that is near the topic without being about
it may still lead to the topic. Probabilities and verdicts learn from labels by other features (`label_learner.py`).

`w` is the weight of a label: 1 for one by a person, |2p − 1| for one by a model with the probability p.

The targets (aims) are beyond the heights of a good page (1) and of an ordinary one (0): labels that contradict the
judge change more than those that confirm it. Labelled pages are not simply added to the seeds: users are asked about
likely pages, and the mean of these is a narrower topic than that of the seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from thresher.judges.adaptive.terms import Matrix, Weights


@dataclass(frozen=True, kw_only=True)
class LabelledRows:
    """Rows of the sample with a positive and with a negative label.

    Args:
        weights: How much each label counts, up to 1: of the positive ones, then of the negative ones; by default 1.
    """

    yes: Sequence[int] = ()
    no: Sequence[int] = ()
    weights: Sequence[float] = ()

    def __post_init__(self) -> None:
        if not self.weights:
            object.__setattr__(self, "weights", (1.0,) * (len(self.yes) + len(self.no)))


@dataclass(frozen=True, kw_only=True)
class LabelTargets:
    """Constants chosen on dev topics; see `docs/explanation/judges.md`."""

    yes: float = 1.5
    no: float = -0.5
    noise: float = 0.3


def errors(heights: Weights, labelled: LabelledRows, label_targets: LabelTargets) -> Weights:
    """Return e: the errors of the pages with a positive label, then of those with a negative one."""
    short = np.maximum(label_targets.yes - heights[list(labelled.yes)], 0.0)
    beyond = np.minimum(label_targets.no - heights[list(labelled.no)], 0.0)
    return np.concatenate([short, beyond])


def correction_vector(pages: Matrix, missed: Weights, noise: Weights | float, *, terms: int) -> Weights:
    """Return v.

    Args:
        pages: The labelled pages z, each of length 1.
        missed: The errors e.
        noise: The variance of each label, or of all.
        terms: Number of terms.
    """
    similarity = np.empty((len(missed), len(missed)))
    page = np.zeros(terms)
    for row, first, last in zip(similarity, pages.starts[:-1], pages.starts[1:], strict=True):
        own = pages.numbers[first:last]
        page[own] = pages.weights[first:last]
        row[:] = pages.sums(page.take(pages.numbers) * pages.weights)
        page[own] = 0.0
    amounts = np.linalg.solve(similarity + np.eye(len(missed)) * noise, missed).astype(np.float64)
    return np.bincount(pages.numbers, pages.per_term(amounts) * pages.weights, minlength=terms).astype(np.float64)
