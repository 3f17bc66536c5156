"""Calibrated probabilities from similarities: 0.7 means that of ten such pages seven are about the topic.

Two logistic regressions, fitted once to the dev topics of four webs by ``python -m
bench.effectiveness.verdict_constants``. Chinese pages have constants of their own, fitted to the Chinese webs: the
similarities of character bigrams and of words are not on the same scale.

- The early model uses phrase and seeds alone. Its output for a page never changes during a crawl. The background,
  which weighs pages by 1 − early probability, therefore cannot absorb the topic, however many of its pages are crawled.
- The late model also uses the score of a page relative to that background. It gives the relevance of every page, from
  the first to the last; the background counts as far as there is any. Pages whose openings are known to the table of
  word vectors have constants of their own, and their similarity of meaning is one more feature.

No feature makes a page less likely the more similar it is to the topic: all page features have weights of 0 or more.

The shift of the crawl (`cut.py`) and labels (`label_learner.py`) are added to the logit of the late probability.

`Openings` are a similarity of meaning: the openings of pages as word vectors (`text/word_vectors.py`), compared with
the topic's.

An opening is the first terms of a page: its title, then its lead. Its vector finds pages about the topic that use other
words than seeds and phrase do. The vectors of any two texts are alike, so what they have in common is subtracted first:

    centre  = (Σ w v + 100 · common) / (Σ w + 100)      w: the background weight of each page (`topic_model.py`)
    topic   = unit(unit(mean_S v − centre) + unit(phrase − centre))
    meaning = unit(v − centre) · topic

`common` is what English texts have in common. An opening is unknown when the table lacks most of its words, as in other
languages; its meaning is 0, and the page is judged by its terms alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np

from thresher.judges.adaptive.terms import TermVector, Weights
from thresher.text.word_vectors import Floats, WordVectors, unit_length

OPENING_TERMS = 60
"""The number of different terms of a page that are its opening: about 600 characters."""
MIN_KNOWN = 0.5
"""The share of an opening's terms that must be in the table."""
COMMON_LENGTH, COMMON_PAGES = 0.73, 100.0
"""The mean length of the common part of an opening, and the background pages after which it counts half."""
UNKNOWN: Floats = np.zeros(0, dtype=np.float32)
"""The vector of every opening where there is no table."""


def embed_opening(terms: TermVector, word_vectors: WordVectors | None) -> Floats:
    """Return the vector of a page's opening, of length 1; zeros when it is unknown."""
    if word_vectors is None:
        return UNKNOWN
    rows = np.array(word_vectors.rows(terms.names[:OPENING_TERMS]), dtype=np.int32)
    if np.count_nonzero(rows) < max(MIN_KNOWN * len(rows), 1):
        return np.zeros(word_vectors.width, dtype=np.float32)
    return word_vectors.embed_weighted(rows, terms.weights[:OPENING_TERMS])


@dataclass(frozen=True, slots=True)
class Openings:
    """The vectors of openings.

    Args:
        pages: Those of all pages of a sample, a row for each.
        phrase: That of the phrase.
        common: What texts have in common, of length 1.
    """

    pages: Floats
    phrase: Floats
    common: Floats


@dataclass(frozen=True, kw_only=True)
class OpeningModel:
    """The topic by the vectors of openings.

    Args:
        centre: What is subtracted from every vector.
        topic: The topic's vector; zeros where neither examples nor phrase are known.
    """

    centre: Floats
    topic: Floats

    def meaning(self, openings: Floats) -> Weights:
        """Return the meaning of one opening, or of each row of several."""
        cosines = np.asarray(unit_length(openings - self.centre) @ self.topic, dtype=np.float64)
        return np.where(openings.any(axis=-1), cosines, 0.0)


def fit_openings(openings: Openings, background: Weights, examples: Sequence[int]) -> OpeningModel:
    """Fit the model to a sample.

    Args:
        background: The background weight of each page.
        examples: Rows of the examples.
    """
    w = np.where(openings.pages.any(axis=1), background, 0.0)
    common = COMMON_PAGES * COMMON_LENGTH * openings.common
    centre = ((w @ openings.pages + common) / (w.sum() + COMMON_PAGES)).astype(np.float32)
    known = [openings.pages[place] for place in examples if openings.pages[place].any()]
    topic = _direction(np.mean(known, axis=0), centre) if known else np.zeros_like(centre)
    return OpeningModel(centre=centre, topic=unit_length(topic + _direction(openings.phrase, centre)))


def _direction(vector: Floats, centre: Floats) -> Floats:
    return unit_length(vector - centre) if vector.any() else np.zeros_like(centre)


THRESHOLD = 0.4
"""A page is relevant from this probability on: chosen on dev topics."""
CHINESE, OTHER = "zh", "other"
"""There are two models: a page is compared with the background in its own language."""
EARLY: Mapping[str, Sequence[float]] = {
    OTHER: (2.173, 3.313, 6.031, 1.026, 0.278, -2.468, 1.854, 4.361),
    CHINESE: (1.918, 3.134, 4.858, 0.839, 0.089, -3.861, 3.765, 4.321),
}
LATE: Mapping[str, Sequence[float]] = {
    OTHER: (2.054, 2.698, 3.902, 1.086, -0.54, -1.516, 0.001, 2.073, 1.181, 2.159, -2.077, 5.724),
    CHINESE: (1.802, 2.375, 2.965, 1.033, -0.489, -1.159, 0.0, 3.119, 1.552, 3.705, -2.163, 5.711),
}
"""The weight of each feature column, then the intercept."""
MEANING_LATE: Sequence[float] = (
    *(1.416, 2.288, 3.031, 0.846, -0.006, -0.663, 0.188, 2.442, 0.979, 2.698, -1.498),
    *(4.54, 3.289, 2.778, 1.807),
)
"""Those of pages whose openings word vectors know, with a column each for topics with no, one and several examples."""
EARLY_COLUMNS, LATE_COLUMNS, MEANING_COLUMNS = 7, 11, 3
APART = 2.5
"""How much the logit falls for a page that never has words of the phrase side by side, though every example has.

Not fitted, since few dev topics have such a phrase: their off-topic pages lack it 3 to 100 times as often as the
on-topic ones; this value means 12 times.
"""
TITLED = 2.0
"""How much the logit rises for a page that all words of a phrase name: in its title, first heading or path.

Chosen on dev topics: better where 25 % and more are on topic, as good in crawls; from 3 on, worse where 5 % are.
"""
SMOOTHING = 0.03
"""Added to similarities before the logarithm: smaller ones differ little."""
MAX_RATIO = 3.0
"""Upper bound of the ratio of a page's similarity to that of a left-out example."""
PRIOR_DEVIATION, PRIOR_MASS = 0.04, 20.0
"""The prior deviation of background scores, and the number of background pages after which it counts half."""
TRUST_MASS = 10.0
"""Background pages after which the score relative to the background counts half."""
MAX_STEPS = 7.0
"""Upper bound of the absolute value of a logit."""


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Reference values that similarities are compared with.

    Args:
        examples: Number of examples of the topic: seeds, or pages with a positive label where there is no seed.
        early_left_out: The mean early similarity of an example to all others.
        left_out: The same for the similarity against the background.
        mass: Number of background pages.
        mean: The mean similarity of the background.
        deviation: Its standard deviation.
    """

    examples: int
    early_left_out: float
    left_out: float = 0.0
    mass: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0


def early_evidence(scale: Scale, early: Weights, named: Weights) -> Weights:
    """Return the features of the early model, a row for each page.

    Args:
        early: The similarity to seeds and phrase, with all terms weighted equally.
        named: The similarity to the phrase alone.
    """
    rows = _rows(scale, early, named, columns=EARLY_COLUMNS)
    if scale.examples > 1:
        rows[:, 6] = np.minimum(early / max(scale.early_left_out, SMOOTHING), MAX_RATIO)
    return rows


def late_evidence(scale: Scale, s: Weights, early: Weights, named: Weights, meaning: Weights | None = None) -> Weights:
    """Return the features of the late model, a row for each page.

    Args:
        s: The similarity to the topic against the background.
        meaning: The similarity of openings by word vectors; adds columns.
    """
    trust = scale.mass / (scale.mass + TRUST_MASS)
    squares = scale.deviation**2 * scale.mass + PRIOR_DEVIATION**2 * PRIOR_MASS
    u = (s - scale.mean) / (squares / (scale.mass + PRIOR_MASS)) ** 0.5
    rows = _rows(scale, early, named, columns=LATE_COLUMNS + (0 if meaning is None else MEANING_COLUMNS))
    rows[:, 6 + min(scale.examples, 2)] = trust * np.log1p(np.minimum(np.maximum(u, 0.0), 15.0))
    if scale.examples > 1:
        rows[:, 9] = _log(s) - log(max(scale.left_out, 0.0) + SMOOTHING)
    rows[:, 10] = trust
    if meaning is not None:
        rows[:, LATE_COLUMNS + min(scale.examples, 2)] = meaning
    return rows


def _rows(scale: Scale, early: Weights, named: Weights, *, columns: int) -> Weights:
    """Return rows with the features that both models share: the similarities to phrase and seeds.

    Topics with no example, with one and with several have columns of their own, since their similarities are on
    different scales. With a single seed the phrase has a column of its own.
    """
    rows = np.zeros((len(early), columns))
    rows[:, min(scale.examples, 2)] = _log(early)
    if scale.examples == 1:
        rows[:, 3] = _log(named)
    rows[:, 4] = scale.examples > 0
    rows[:, 5] = scale.examples > 1
    return rows


def _log(similarity: Weights) -> Weights:
    logs: Weights = np.log(np.maximum(similarity, 0.0) + SMOOTHING)
    return logs


def logistic(evidence: Weights, weights: Sequence[float], shift: Weights | float = 0.0) -> Weights:
    """Return the probability of each row of features.

    Args:
        shift: Added to the logit of each page.
    """
    logits = _bounded(evidence @ np.array(weights[:-1]) + weights[-1]) + shift
    chances: Weights = 1.0 / (1.0 + np.exp(-logits))  # not bounded again: sure pages would be equally sure
    return chances


def _bounded(logits: Weights) -> Weights:
    bounded: Weights = np.minimum(np.maximum(logits, -MAX_STEPS), MAX_STEPS)
    return bounded


def logits_of(chances: Weights) -> Weights:
    """Return the logits of probabilities, which are kept off 0 and 1."""
    bounded = np.minimum(np.maximum(chances, 1e-6), 1.0 - 1e-6)
    logits: Weights = np.log(bounded / (1.0 - bounded))
    return logits


def log_odds(chance: float) -> float:
    """Return the logit of one probability: numpy would take longer."""
    bounded = min(max(chance, 1e-6), 1.0 - 1e-6)
    return log(bounded / (1.0 - bounded))


def chance_of(logit: float) -> float:
    """Return the probability of a logit."""
    return 1.0 / (1.0 + exp(-min(max(logit, -50.0), 50.0)))
