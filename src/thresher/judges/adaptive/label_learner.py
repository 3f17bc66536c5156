"""What labels change in the probabilities: logistic regression around the judge's own logit, as a Gaussian process.

    logit p' = logit p + shift + offset + direction · φ
    K        = offset_deviation² + SIMILARITY² · φ φ'     prior covariance of what labels may change

φ is a page on the `AXES` main axes of the sample (latent semantic analysis of tf-idf, no labels), centred, of length 1.
So a label moves pages about the same things, also those with other words, and all pages a little. Pages unlike all
labelled ones move by the offset alone; contradicting labels cancel out. The maximum a posteriori estimate is found by
Newton steps, halved until they improve it, since whole ones diverge for some crawls with many labels.

For rewards and for the terms of explanations labels correct the topic vector (`label_correction.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from thresher.judges.adaptive.calibration import CHINESE, OTHER
from thresher.judges.adaptive.terms import Matrix, Numbers, Weights

AXES, AXIS_TERMS, AXIS_PAGES = 50, 2000, 500
"""Number of axes, and of the terms and pages that they are computed from."""
OFFSET_DEVIATION: Mapping[str, float] = {OTHER: 1.0, CHINESE: 1.5}
SIMILARITY = 3.0
MAX_LABELS = 500
"""The latest labels that count."""
NEWTON_STEPS = 30
MIN_STEP, MIN_GAIN = 1e-3, 1e-5
MIN_WEIGHT = 1e-6


@dataclass(frozen=True, slots=True)
class PageAxes:
    """The main axes of a sample.

    Args:
        columns: For each term its row of `axes`, or -1.
        idf: The weight of each of these terms.
        axes: A row for each of these terms, a column for each axis.
        centre: The mean page.
    """

    columns: Numbers
    idf: Weights
    axes: Weights
    centre: Weights

    def features(self, pages: Matrix) -> Weights:
        """Return φ of each page."""
        return _unit(_dense(pages, self.columns, self.idf) @ self.axes - self.centre)


def page_axes(pages: Matrix, terms: int) -> PageAxes:
    """Compute the axes of a sample; of a large one, those of `AXIS_PAGES` pages."""
    count = len(pages.starts) - 1
    if count > AXIS_PAGES:
        pages, count = pages.rows(np.linspace(0, count - 1, AXIS_PAGES).astype(int).tolist()), AXIS_PAGES
    df = np.bincount(pages.numbers, minlength=terms)
    idf = np.where(df > 1, np.maximum(np.log((count + 1) / (df + 0.5)), 0.0), 0.0)
    z = pages.weights * idf[pages.numbers]
    lengths = np.sqrt(pages.sums(z * z)) + 1e-9
    mass = np.bincount(pages.numbers, (z / pages.per_term(lengths)) ** 2, minlength=terms)
    chosen = np.sort(np.argsort(-mass, kind="stable")[:AXIS_TERMS])
    columns = np.full(terms, -1, dtype=np.int32)
    columns[chosen] = np.arange(len(chosen))
    dense = _dense(pages, columns, idf[chosen])
    values, vectors = np.linalg.eigh(dense @ dense.T)
    values, vectors = values[-AXES:], vectors[:, -AXES:]
    axes = dense.T @ (vectors / np.sqrt(np.maximum(values, 1e-6)))
    return PageAxes(columns, idf[chosen], axes, (dense @ axes).mean(axis=0))


def _dense(pages: Matrix, columns: Numbers, idf: Weights) -> Weights:
    """Return tf-idf of the terms that have columns, of length 1, a row for each page."""
    places = np.where(pages.numbers < len(columns), columns[np.minimum(pages.numbers, len(columns) - 1)], -1)
    known = places >= 0
    rows = np.zeros((len(pages.starts) - 1, len(idf)))
    row_of = np.repeat(np.arange(len(rows)), pages.lengths)
    rows[row_of[known], places[known]] = pages.weights[known] * idf[places[known]]
    return _unit(rows)


def _unit(rows: Weights) -> Weights:
    scaled: Weights = rows / np.sqrt(np.maximum(np.einsum("ij,ij->i", rows, rows), 1e-12))[:, None]
    return scaled


@dataclass(frozen=True, slots=True)
class LabelEffect:
    """What labels add to logits: the same for all pages, and by the features of a page."""

    offset: float
    direction: Weights

    def of(self, features: Weights) -> Weights:
        """Return what is added to the logit of one page, or of each row."""
        effect: Weights = self.offset + features @ self.direction
        return effect


def learn_labels(logits: Weights, features: Weights, labels: Sequence[float], offset_deviation: float) -> LabelEffect:
    """Find the most probable effect of labels.

    Args:
        logits: Of the labelled pages, before labels count.
        features: φ of the labelled pages.
        labels: Whether each is on topic, or the probability by a model, which counts less the nearer it is to one half.
    """
    given = np.array(labels, dtype=np.float64)
    truth, weights = np.round(given), np.maximum(np.abs(2.0 * given - 1.0), MIN_WEIGHT)
    covariance = offset_deviation**2 + SIMILARITY**2 * features @ features.T + 1e-6 * np.eye(len(given))
    amounts, best = np.zeros(len(given)), -np.inf
    for _ in range(NEWTON_STEPS):
        f = logits + covariance @ amounts
        p = 1.0 / (1.0 + np.exp(-np.clip(f, -50.0, 50.0)))
        root = np.sqrt(np.maximum(weights * p * (1.0 - p), 1e-6))
        wanted = root**2 * (f - logits) + weights * (truth - p)
        inner = np.linalg.solve(np.eye(len(given)) + np.outer(root, root) * covariance, root * (covariance @ wanted))
        direction, step = wanted - root * inner - amounts, 1.0
        before = max(best, _log_posterior(amounts, logits, covariance, truth, weights))
        while (best := _log_posterior(amounts + step * direction, logits, covariance, truth, weights)) < before:
            step /= 2.0
            if step < MIN_STEP:
                step, best = 0.0, before
                break
        amounts = amounts + step * direction
        if best - before < MIN_GAIN:
            break
    return LabelEffect(offset_deviation**2 * float(amounts.sum()), SIMILARITY**2 * (features.T @ amounts))


def _log_posterior(amounts: Weights, logits: Weights, covariance: Weights, truth: Weights, weights: Weights) -> float:
    change = covariance @ amounts
    misses = np.logaddexp(0.0, np.where(truth > 0.5, -1.0, 1.0) * (logits + change))
    return float(-0.5 * amounts @ change - weights @ misses)
