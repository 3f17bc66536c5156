"""From what is known of a page to a probability: 0.7 means that of ten such pages seven are about the topic.

Two logistic regressions, fitted once to dev topics of four webs by ``python -m bench.verdict_constants``. Chinese pages
have constants of their own, fitted to the Chinese webs: pairs of characters and words are not alike on the same scale.

- The early one looks at phrase and seeds alone. No crawl can change what it says of a page, so the background, which
  weighs pages by 1 − early probability, cannot swallow the topic, however many of its pages were crawled.
- The late one also looks at where a page stands against that background. It is the relevance of a page from the first
  page to the last: the background speaks as far as there is any.

No feature counts against a page the more it is like the topic: those of the page have weights of 0 or more.

Labels correct the late probability (`recalibrate`): a shift of its logit, the likeliest one under a Gaussian prior, so
that one or two labels move little. Nothing new is remembered for it: it follows from labels and model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from thresher.classify.rows import Weights

THRESHOLD = 0.4
"""A page counts as relevant from this probability: chosen on dev topics."""
CHINESE, OTHER = "zh", "other"
"""Pages are judged by two models: a page is ordinary or not among those it shares a language with."""
EARLY: Mapping[str, Sequence[float]] = {
    OTHER: (2.173, 3.313, 6.031, 1.026, 0.278, -2.468, 1.854, 4.361),
    CHINESE: (1.918, 3.134, 4.858, 0.839, 0.089, -3.861, 3.765, 4.321),
}
LATE: Mapping[str, Sequence[float]] = {
    OTHER: (2.054, 2.698, 3.902, 1.086, -0.54, -1.516, 0.001, 2.073, 1.181, 2.159, -2.077, 5.724),
    CHINESE: (1.802, 2.375, 2.965, 1.033, -0.489, -1.159, 0.0, 3.119, 1.552, 3.705, -2.163, 5.711),
}
"""The weight of each column of the evidence, then the constant."""
EARLY_COLUMNS, LATE_COLUMNS = 7, 11
APART = 2.5
"""By how much the logit of a page falls that never has words of the phrase side by side, though every example has.

Not fitted, since few dev topics have such a phrase: their pages off the topic lack it 3 to 100 times as often as those
on the topic, and this stands for 12 times.
"""
LEAST = 0.03
"""Likenesses below this are alike."""
MOST_RATIO = 3.0
"""More than three times as like the topic as an example that is left out counts as three times."""
PRIOR_DEVIATION, PRIOR_MASS = 0.04, 20.0
"""The deviation of background scores before there is a background, and the pages after which that counts half."""
TRUST_MASS = 10.0
"""Background pages after which where a page stands against them counts half."""
PER_HEIGHT = 4.0
"""By how much the logit of a page moves when labels of pages like it raise it from an ordinary page to a good one."""
OFFSET_DEVIATION = 0.7
"""By how much the logits of one topic are off as a whole, before any label: the prior of `recalibrate`."""
NEWTON_STEPS = 30
MOST_STEPS = 7.0
"""No logit is beyond this, either way."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """What likenesses are measured against.

    Args:
        examples: How many pages the topic is known by: seeds, or without any of them pages with a yes.
        early_left_out: The mean early likeness of an example to all others.
        left_out: The same against the background.
        mass: How many pages of background there are.
        mean: The mean likeness of the background.
        deviation: The standard deviation of that.
    """

    examples: int
    early_left_out: float
    left_out: float = 0.0
    mass: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0


def early_evidence(scale: Scale, early: Weights, named: Weights) -> Weights:
    """Put together what phrase and seeds say of pages, a row for each.

    Args:
        early: The likeness to seeds and phrase, all terms alike.
        named: The likeness to the phrase alone.
    """
    rows = _rows(scale, early, named, columns=EARLY_COLUMNS)
    if scale.examples > 1:
        rows[:, 6] = np.minimum(early / max(scale.early_left_out, LEAST), MOST_RATIO)
    return rows


def late_evidence(scale: Scale, s: Weights, early: Weights, named: Weights) -> Weights:
    """Put together what phrase, seeds and background say of pages, a row for each.

    Args:
        s: The likeness to the topic against the background.
    """
    trust = scale.mass / (scale.mass + TRUST_MASS)
    squares = scale.deviation**2 * scale.mass + PRIOR_DEVIATION**2 * PRIOR_MASS
    u = (s - scale.mean) / (squares / (scale.mass + PRIOR_MASS)) ** 0.5
    rows = _rows(scale, early, named, columns=LATE_COLUMNS)
    rows[:, 6 + min(scale.examples, 2)] = trust * np.log1p(np.minimum(np.maximum(u, 0.0), 15.0))
    if scale.examples > 1:
        rows[:, 9] = _log(s) - log(max(scale.left_out, 0.0) + LEAST)
    rows[:, 10] = trust
    return rows


def _rows(scale: Scale, early: Weights, named: Weights, *, columns: int) -> Weights:
    """Begin rows of evidence: how like phrase and seeds pages are.

    A topic with no example, with one and with several has columns of its own: likenesses to them are not alike. Beside
    a single seed the phrase speaks for itself.
    """
    rows = np.zeros((len(early), columns))
    rows[:, min(scale.examples, 2)] = _log(early)
    if scale.examples == 1:
        rows[:, 3] = _log(named)
    rows[:, 4] = scale.examples > 0
    rows[:, 5] = scale.examples > 1
    return rows


def _log(likeness: Weights) -> Weights:
    logs: Weights = np.log(np.maximum(likeness, 0.0) + LEAST)
    return logs


def logistic(evidence: Weights, weights: Sequence[float], shift: Weights | float = 0.0) -> Weights:
    """Return the probability of each row of evidence.

    Args:
        shift: What is added to the logit of each page.
    """
    steps = _bounded(evidence @ np.array(weights[:-1]) + weights[-1]) + shift
    chances: Weights = 1.0 / (1.0 + np.exp(-_bounded(steps)))
    return chances


def _bounded(steps: Weights) -> Weights:
    bounded: Weights = np.minimum(np.maximum(steps, -MOST_STEPS), MOST_STEPS)
    return bounded


@dataclass(frozen=True, kw_only=True)
class Correction:
    """What labels change about probabilities: ``logit p' = offset + logit p``."""

    offset: float = 0.0

    def apply(self, chance: float) -> float:
        """Correct a probability."""
        return _chance(_logit(chance) + self.offset)

    def effective(self, threshold: float) -> float:
        """Return the probability before the correction that the threshold amounts to."""
        return _chance(_logit(threshold) - self.offset)


def recalibrate(chances: Weights, labels: Sequence[bool | None], taught: Weights) -> Correction:
    """Find the offset that labels ask for: the likeliest one, given a Gaussian prior around 0.

    Labels also teach which words count, and so raise or lower pages like those that were labelled. What they change on
    the whole near the threshold is taken out again, or labels would count twice: teaching ranks, the offset levels.

    Args:
        chances: The probabilities of all pages, without what labels taught.
        labels: Whether each of them is on topic; None without a label.
        taught: How much labels have raised or lowered each page, in heights.
    """
    if all(label is None for label in labels):
        return Correction()
    known = np.array([label is not None for label in labels])
    steps, truth = np.array([_logit(chance) for chance in chances[known]]), np.array(labels)[known].astype(np.float64)
    offset = 0.0
    for _ in range(NEWTON_STEPS):
        p = 1.0 / (1.0 + np.exp(-(steps + offset)))
        slope = float((truth - p).sum()) - offset / OFFSET_DEVIATION**2
        step = slope / (float((p * (1.0 - p)).sum()) + 1.0 / OFFSET_DEVIATION**2)
        offset += min(max(step, -1.0), 1.0)
    unsure = np.where(known, 0.0, chances * (1.0 - chances))
    return Correction(offset=offset - PER_HEIGHT * float(unsure @ taught) / max(float(unsure.sum()), 1e-9))


def _logit(chance: float) -> float:
    bounded = min(max(chance, 1e-6), 1.0 - 1e-6)
    return log(bounded / (1.0 - bounded))


def _chance(steps: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(steps, -50.0), 50.0)))
