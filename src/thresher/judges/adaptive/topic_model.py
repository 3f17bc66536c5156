"""The topic as a vector against the background of the crawl: the arithmetic of the adaptive judge.

A page is the vector ``z = unit(ln(1 + n) · importance)`` of its terms. The importance of a term is estimated from the
off-topic pages crawled so far, and only as far as there are enough of them: near its seeds a crawl finds mostly its
topic, and the topic's own words would seem common there.

    mass        = Σ w              w = n (1 − p) of each page, 0 for seeds: how much off-topic background there is
    trust       = mass / (mass + kappa)
    importance  = max(floor, 1 − trust + trust · ln((mass + 2) / (df + 1)) / ln(mass + 2))
    m           = unit(mean_S z · share_S ^ agreement) + phrase_weight · unit(phrase · importance)
    m          −= trust · b (m·b) / (b·b),   b = Σ w z / mass       common terms carry no information
    s           = z · unit(m)
    r           = clip((s − middle) / (level − middle), 0, 1)

`p` is the early probability (`calibration.py`): it depends on phrase and seeds alone, with all terms weighted equally,
so that no crawl, however many of its pages are on topic, can turn the topic's own words into background. Finally,
labels correct m (`label_correction.py`); r is then that of the greater s.

`n` is the weight of a page: 1, unless it represents further pages of other workers. `share_S` is the share of the seeds
that contain a term; `middle` the median of s over the sample; `level` the mean score of a seed that is left out of S,
or two standard deviations above the middle where that is more. r is the reward for strategies and decides no verdict:
verdicts are probabilities at or above a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from thresher.judges.adaptive.calibration import (
    APART,
    EARLY,
    LATE,
    MEANING_LATE,
    OTHER,
    TITLED,
    UNKNOWN,
    OpeningModel,
    Openings,
    Scale,
    early_evidence,
    fit_openings,
    late_evidence,
    logistic,
)
from thresher.judges.adaptive.label_correction import LabelledRows, LabelTargets, correction_vector, errors
from thresher.judges.adaptive.terms import Matrix, Numbers, Weights
from thresher.text.word_vectors import Floats

FLOOR = 0.05
"""The lowest importance of a term."""
MIN_PAGES = 10
"""Pages besides the seeds from which the middle is estimated from the sample."""
MIDDLE_SHARE = 0.5
"""The middle is at most this share of the score of a seed."""
UNNAMED = 0.5
"""Where no example contains a word of the phrase, this share of the early similarity is used for `named`."""
OTHERS_SHARE = 0.2
"""A word that names more than all but this share of the pages counts less: it is a part of every title of a site."""
MIN_LABEL_WEIGHT = 1e-6  # of a label with the probability one half
LEVEL_WITHOUT_SEEDS = 0.25
"""The level when there is neither a seed nor a background to estimate it from."""


@dataclass(frozen=True, kw_only=True)
class TopicModelConstants:
    """Constants chosen on dev topics; see `docs/explanation/judges.md`."""

    kappa: float = 100.0
    agreement: float = 0.75
    phrase_weight: float = 0.5
    deviations: float = 2.0
    label_targets: LabelTargets = field(default_factory=LabelTargets)
    early: Sequence[float] = EARLY[OTHER]
    late: Sequence[float] = LATE[OTHER]


class TopicSimilarity(NamedTuple):
    """The similarities of a page to the topic.

    Args:
        plain: To the topic's vector.
        corrected: To the topic's vector after correction by labels.
        early: To seeds and phrase before any crawl, with all terms weighted equally.
        named: To the phrase alone, with all terms weighted equally.
        apart: 1 when the page never has words of the phrase side by side, though every example has; else 0.
        meaning: That of its opening, by word vectors; 0 where these do not know its words.
        titled: The share of a phrase's words that name the page; words that name nearly all pages count little.
    """

    plain: float
    corrected: float
    early: float = 0.0
    named: float = 0.0
    apart: float = 0.0
    meaning: float = 0.0
    titled: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EarlyModel:
    """The topic by phrase and seeds alone, with all terms weighted equally; the crawl cannot change it.

    Args:
        direction: The unit vector of seeds and phrase.
        phrase: The unit vector of the phrase.
        pairs: Indices of the word pairs of the phrase; empty where an example lacks them.
    """

    direction: Weights
    phrase: Weights
    pairs: Numbers

    def similarity(self, numbers: Numbers, weights: Weights, new_squares: float) -> tuple[float, float, float]:
        """Return `early`, `named` and `apart` of one page."""
        length = (float(weights @ weights) + new_squares) ** 0.5 or 1.0
        early, named = float(weights @ self.direction[numbers]), float(weights @ self.phrase[numbers])
        return early / length, named / length, float(len(self.pairs) > 0 and not np.isin(self.pairs, numbers).any())

    def similarities(self, matrix: Matrix) -> list[Weights]:
        """Return the same for all pages of a sample."""
        lengths = _lengths(matrix, matrix.weights)
        vectors = (self.direction, self.phrase)
        alike = [matrix.sums(matrix.weights * vector.take(matrix.numbers)) / lengths for vector in vectors]
        return [*alike, matrix.without(self.pairs)]


@dataclass(frozen=True, kw_only=True)
class TopicModel:
    """A fitted model of the topic.

    Args:
        importance: The importance of each term; a term that no page of the sample contains has 1, the maximum.
        direction: The topic's unit vector.
        corrected: The same after correction by labels.
        middle: The score of an ordinary page.
        spread: The standard deviation of the scores.
        level: The score of a good page.
        pages: Number of pages the model was fitted to.
        scale: Reference values that turn scores into probabilities.
        early: The model before the crawl.
        late: The weights of the features.
        titles: For each phrase, how much each term says that its words name the page.
        opening: The model of openings; None without word vectors.
    """

    importance: Weights
    direction: Weights
    corrected: Weights
    middle: float
    spread: float
    level: float
    pages: int
    scale: Scale
    early: EarlyModel
    late: Sequence[float] = LATE[OTHER]
    titles: Sequence[Weights] = ()
    opening: OpeningModel | None = None

    def similarity(
        self, numbers: Numbers, weights: Weights, new_squares: float, opening: Floats = UNKNOWN
    ) -> TopicSimilarity:
        """Return s of one page.

        Args:
            numbers: Indices of its known terms.
            new_squares: The sum of squared weights of all others.
            opening: The vector of its opening.
        """
        z = weights * self.importance[numbers]
        length = (float(z @ z) + new_squares) ** 0.5 or 1.0
        plain, corrected = float(z @ self.direction[numbers]) / length, float(z @ self.corrected[numbers]) / length
        meaning = float(self.opening.meaning(opening)) if self.opening and len(opening) else 0.0
        titled = max((float(title[numbers].sum()) for title in self.titles), default=0.0)
        return TopicSimilarity(plain, corrected, *self.early.similarity(numbers, weights, new_squares), meaning, titled)

    def probabilities(self, similarities: Sequence[TopicSimilarity]) -> Weights:
        """Return the probability of each page to be about the topic, before the shift of the crawl and labels count."""
        plain, _, early, named, apart, meaning, titled = _columns(similarities)
        shift = TITLED * titled - APART * apart
        chances = logistic(late_evidence(self.scale, plain, early, named), self.late, shift)
        if self.opening is None:
            return chances
        with_meaning = logistic(late_evidence(self.scale, plain, early, named, meaning), MEANING_LATE, shift)
        return np.where(meaning == 0.0, chances, with_meaning)

    def height(self, s: float) -> float:
        """Return the position of a score between an ordinary page (0) and a good one (1), or beyond."""
        return (s - self.middle) / max(self.level - self.middle, 1e-9)

    def reward(self, s: TopicSimilarity) -> float:
        """Return r of a page; labels can only raise it, since rewards for links should be generous."""
        return min(max(self.height(max(s.plain, s.corrected)), 0.0), 1.0)


def _columns(similarities: Sequence[TopicSimilarity]) -> Weights:
    columns: Weights = np.array(similarities, dtype=np.float64).reshape(-1, len(TopicSimilarity._fields)).T
    return columns


@dataclass(frozen=True, kw_only=True)
class TopicExamples:
    """The training examples of a topic.

    Args:
        places: Rows of the examples: seeds, or without any of them pages with a positive label.
        seeds: Those of them that are original seeds, which determine the level.
        phrase: Indices of the phrase's terms, and their weights.
        pairs: Indices of the word pairs of the phrase.
        titles: For each phrase, its number of words, and the indices of the terms for those that name pages.
        labelled: The labelled rows.
    """

    places: Sequence[int]
    seeds: Sequence[int]
    phrase: Mapping[int, float]
    pairs: Sequence[int] = ()
    titles: Sequence[tuple[int, Sequence[int]]] = ()
    labelled: LabelledRows = field(default_factory=LabelledRows)


def fit(
    matrix: Matrix,
    terms: int,
    examples: TopicExamples,
    constants: TopicModelConstants,
    openings: Openings | None = None,
) -> tuple[TopicModel, list[TopicSimilarity]]:
    """Fit the topic to the sample; return it with the similarities of every page of the sample.

    Args:
        terms: Number of terms.
        openings: The vectors of the pages' openings; None without word vectors.
    """
    early, left_out = _early(matrix, terms, examples, constants)
    similarities = early.similarities(matrix)
    known = Scale(examples=len(examples.places), early_left_out=left_out)
    on_topic = logistic(early_evidence(known, *similarities[:2]), constants.early)
    labelled = examples.labelled
    weights = np.array(labelled.weights, dtype=np.float64)
    on_topic[list(labelled.no)] *= 1.0 - weights[len(labelled.yes) :]
    w = matrix.pages * (1.0 - on_topic)
    w[list(labelled.yes)] *= 1.0 - weights[: len(labelled.yes)]
    w[list(examples.places)] = 0.0
    model, s = _fit_once(matrix, terms, examples, constants, w, early, known)
    model, after = _apply_labels(model, s, matrix, examples, constants)
    if openings:
        model = replace(model, opening=fit_openings(openings, w, examples.places))
    meaning = model.opening.meaning(openings.pages) if openings and model.opening else np.zeros(len(s))
    named_by = [matrix.sums(title.take(matrix.numbers)) for title in model.titles]
    titled = np.max(named_by, axis=0) if named_by else np.zeros(len(s))
    columns = [values.tolist() for values in (s, after, *similarities, meaning, titled)]
    return model, list(map(TopicSimilarity, *columns))


def _early(
    matrix: Matrix, terms: int, examples: TopicExamples, constants: TopicModelConstants
) -> tuple[EarlyModel, float]:
    """Fit the topic to phrase and seeds alone; return it with the mean score of a left-out seed."""
    nothing = np.zeros(terms)
    lengths = _lengths(matrix, matrix.weights)
    shape = _Shape(matrix, matrix.weights, lengths, nothing, np.ones(terms), examples, constants, 0.0)
    phrase = np.zeros(terms)
    phrase[list(examples.phrase)] = list(examples.phrase.values())
    direction, left_out = shape.direction(), _mean(shape.left_out_scores())
    own = matrix.rows(examples.places)
    is_named = not len(own.numbers) or phrase[own.numbers].any()
    pairs = np.array(examples.pairs, dtype=np.int32)
    if not len(own.numbers) or own.without(pairs).any():
        pairs = pairs[:0]
    named = _unit(phrase) if is_named else UNNAMED * direction
    return EarlyModel(direction=direction, phrase=named, pairs=pairs), left_out


def _fit_once(
    matrix: Matrix,
    terms: int,
    examples: TopicExamples,
    constants: TopicModelConstants,
    w: Weights,
    early: EarlyModel,
    known: Scale,
) -> tuple[TopicModel, Weights]:
    mass = float(w.sum())
    trust = mass / (mass + constants.kappa)
    importance = _importance(matrix, terms, w, trust)
    z = matrix.weights * importance.take(matrix.numbers)  # not normalised: dividing the sums is cheaper
    lengths = _lengths(matrix, z)
    shares = matrix.per_term(w / (max(mass, 1e-9) * lengths))
    b = np.bincount(matrix.numbers, z * shares, minlength=terms).astype(np.float64)
    shape = _Shape(matrix, z, lengths, b, importance, examples, constants, trust)
    direction, all_left_out = shape.direction(), shape.left_out_scores()
    left_out = all_left_out if examples.seeds else all_left_out[:0]  # labels do not set the scale of the reward
    s = matrix.sums(z * direction.take(matrix.numbers)) / lengths
    middle, spread = _middle(s, matrix.pages, examples, left_out)
    mean = float(w @ s) / max(mass, 1e-9)
    deviation = float(w @ (s - mean) ** 2 / max(mass, 1e-9)) ** 0.5
    model = TopicModel(
        importance=importance,
        direction=direction,
        corrected=direction,
        middle=middle,
        spread=spread,
        level=_level(left_out, middle, spread, constants),
        pages=len(s),
        scale=replace(known, left_out=_mean(all_left_out), mass=mass, mean=mean, deviation=deviation),
        early=early,
        late=constants.late,
        titles=_titles(examples, matrix, terms),
    )
    return model, s


def _titles(examples: TopicExamples, matrix: Matrix, terms: int) -> list[Weights]:
    """Return for each phrase the weights of the terms for its words; one that names nearly all pages weighs little."""
    found = []
    for words, named_by in examples.titles:
        title = np.zeros(terms)
        for term in named_by:
            pages = float(matrix.per_term(matrix.pages)[matrix.numbers == term].sum())
            others = 1.0 - pages / (float(matrix.pages.sum()) + MIN_PAGES)
            title[term] = min(others / OTHERS_SHARE, 1.0) / words
        found.append(title)
    return found


def _apply_labels(
    model: TopicModel, s: Weights, matrix: Matrix, examples: TopicExamples, constants: TopicModelConstants
) -> tuple[TopicModel, Weights]:
    """Correct the topic vector by labels; return the model with the corrected scores."""
    labelled = examples.labelled
    if not (labelled.yes or labelled.no):
        return model, s
    z = matrix.weights * model.importance.take(matrix.numbers)
    lengths = _lengths(matrix, z)
    unit_z = replace(matrix, weights=z / matrix.per_term(lengths))
    scale = max(model.level - model.middle, 1e-9)
    missed = errors((s - model.middle) / scale, labelled, constants.label_targets)
    labelled_pages = unit_z.rows([*labelled.yes, *labelled.no])
    noise = constants.label_targets.noise / np.maximum(labelled.weights, MIN_LABEL_WEIGHT)
    v = correction_vector(labelled_pages, missed, noise, terms=len(model.direction))
    after = s + scale * unit_z.sums(unit_z.weights * v.take(matrix.numbers))
    return replace(model, corrected=model.direction + scale * v), after


def _lengths(matrix: Matrix, z: Weights) -> Weights:
    lengths: Weights = np.sqrt(matrix.sums(z * z))
    lengths[lengths < 1e-12] = 1.0
    return lengths


def _mean(scores: Weights) -> float:
    return float(scores.mean()) if len(scores) else 0.0


def _importance(matrix: Matrix, terms: int, w: Weights, trust: float) -> Weights:
    mass = float(w.sum())
    df = np.bincount(matrix.numbers, matrix.per_term(w), minlength=terms)
    importance = 1.0 - trust + trust * np.log((mass + 2) / (df + 1)) / np.log(mass + 2)
    floored: Weights = np.maximum(FLOOR, importance)
    return floored


def _middle(s: Weights, n: Weights, examples: TopicExamples, left_out: Weights) -> tuple[float, float]:
    at_most = MIDDLE_SHARE * float(left_out.mean()) if len(left_out) else None
    if len(s) < len(examples.places) + MIN_PAGES:
        return at_most or 0.0, 0.0
    median, spread = _median(s, n), weighted_deviation(s, n)
    # where most of the crawl is on topic, the median page is not an ordinary one
    return median if at_most is None else min(median, at_most), spread


def _median(s: Weights, n: Weights) -> float:
    if n.min() == n.max():
        return float(np.median(s))
    order = np.argsort(s, kind="stable")
    below = np.cumsum(n[order])
    return float(s[order][np.searchsorted(below, below[-1] / 2)])


def weighted_deviation(s: Weights, n: Weights) -> float:
    """Return the weighted standard deviation."""
    mean = float(np.average(s, weights=n))
    return float(np.sqrt(np.average((s - mean) ** 2, weights=n)))


def _level(left_out: Weights, middle: float, spread: float, constants: TopicModelConstants) -> float:
    candidates = [middle + constants.deviations * spread] if spread else []
    if len(left_out):
        candidates.append(float(left_out.mean()))
    return max(candidates, default=LEVEL_WITHOUT_SEEDS)


class _Shape:
    """The topic's vector m, with and without single examples, restricted to the terms of the examples."""

    def __init__(
        self,
        matrix: Matrix,
        z: Weights,
        lengths: Weights,
        b: Weights,
        importance: Weights,
        examples: TopicExamples,
        constants: TopicModelConstants,
        trust: float,
    ) -> None:
        spans = [slice(matrix.starts[place], matrix.starts[place + 1]) for place in examples.places]
        phrase = np.array(list(examples.phrase), dtype=np.int64)
        own = [matrix.numbers[span] for span in spans]
        self._terms = np.unique(np.concatenate([*own, phrase]).astype(np.int64))
        self._rows = np.zeros((len(spans), len(self._terms)))
        for row, numbers, span, place in zip(self._rows, own, spans, examples.places, strict=True):
            row[np.searchsorted(self._terms, numbers)] = z[span] / lengths[place]
        self._phrase = np.zeros(len(self._terms))
        self._phrase[np.searchsorted(self._terms, phrase)] = importance[phrase] * list(examples.phrase.values())
        self._phrase = constants.phrase_weight * _unit(self._phrase)
        self._b, self._bb, self._background = b[self._terms], float(b @ b), b
        self._agreement, self._trust = constants.agreement, trust

    def direction(self) -> Weights:
        """Return unit(m) over all terms."""
        m, along, length = self._topic(self._rows)
        full = -along * self._background
        full[self._terms] += m
        return full / length if length else full

    def left_out_scores(self) -> Weights:
        return np.array([self._score_without(place) for place in range(len(self._rows))])

    def _score_without(self, place: int) -> float:
        m, along, length = self._topic(np.delete(self._rows, place, axis=0))
        z = self._rows[place]
        return float(z @ m - along * (z @ self._b)) / length if length else 0.0

    def _topic(self, rows: Weights) -> tuple[Weights, float, float]:
        """Return m before the projection, the factor of b to subtract, and the norm of the result."""
        m = self._phrase
        if len(rows):
            share = (rows != 0).mean(axis=0)
            m = m + _unit(rows.mean(axis=0) * share**self._agreement)
        m_b = float(m @ self._b)
        along = self._trust * m_b / self._bb if self._bb else 0.0
        squares = float(m @ m) - 2 * along * m_b + along**2 * self._bb
        return m, along, max(squares, 0.0) ** 0.5


def _unit(vector: Weights) -> Weights:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length else vector
