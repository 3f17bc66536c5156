"""The shift of a crawl: how much its probabilities are too low or too high, predicted from their own distribution.

The constants of `calibration.py` hold for crawls in which few pages are on topic. Where many are, the background is
near the topic too, and every probability comes out too low. What the sample's logits look like tells the two apart:

    shift = logit(THRESHOLD) − w · x      x: mean and share of probabilities, median and Otsu's cut of logits, seeds

``w · x`` predicts the cut of these logits with the best F1, fitted to dev topics of four webs by ``python -m
bench.effectiveness.cut_constants``. The shift is added to the logit of every page, so that a page is relevant from the
same threshold in every crawl. Until there are `MIN_PAGES` pages it is 0. Later it moves only when the prediction is
`STEP` away from it, so that verdicts do not waver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from thresher.judges.adaptive.calibration import CHINESE, MAX_STEPS, OTHER, THRESHOLD, log_odds, logits_of
from thresher.judges.adaptive.terms import Weights

CUT: Mapping[str, Sequence[float]] = {
    OTHER: (-0.147, 0.063, -0.386, -0.039, 0.407, -3.109),
    CHINESE: (0.251, -1.456, 0.151, 0.589, 0.623, -1.944),
}
"""The weight of each column of `score_features`, then the intercept."""
MIN_PAGES = 40
"""Pages besides the seeds from which the shift follows the crawl; those of the smallest samples it was fitted to."""
STEP = 0.5
LOWEST, HIGHEST = -1.5, 3.5
"""Bounds of the shift."""
MIN_SHARE = 0.01
"""Added to shares before the logarithm."""


def score_features(logits: Weights, *, several: bool) -> Weights:
    """Return the features of a crawl.

    Args:
        logits: Of all pages of the sample besides the seeds.
        several: Whether the topic has several examples.
    """
    chances = 1.0 / (1.0 + np.exp(-logits))
    mean, share = float(chances.mean()), float((chances >= THRESHOLD).mean())
    logs = [np.log(mean + MIN_SHARE), np.log(share + MIN_SHARE)]
    return np.array([*logs, np.median(logits), otsu_cut(logits), float(several)])


def otsu_cut(values: Weights) -> float:
    """Return the cut between two groups of values whose means are farthest apart, weighted by their sizes."""
    ordered = np.sort(values)
    below = np.arange(1, len(ordered))
    above, sums = len(ordered) - below, np.cumsum(ordered)[:-1]
    apart = below * above * (sums / below - (ordered.sum() - sums) / above) ** 2
    place = int(np.argmax(apart))
    return float(ordered[place] + ordered[place + 1]) / 2.0


def predicted_shift(chances: Weights, *, several: bool, weights: Sequence[float]) -> float:
    """Return the shift that the probabilities of a sample suggest."""
    logits = np.clip(logits_of(chances), -MAX_STEPS, MAX_STEPS)  # as those that the weights were fitted to
    cut = float(score_features(logits, several=several) @ np.array(weights[:-1])) + weights[-1]
    return min(max(log_odds(THRESHOLD) - cut, LOWEST), HIGHEST)
