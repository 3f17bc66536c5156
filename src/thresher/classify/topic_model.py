"""What a topic looks like against the background of the crawl: the arithmetic of the adaptive judge.

A page is the vector ``z = unit(ln(1 + n) · importance)`` of its terms. How much a term matters is told by the pages
crawled so far, but only by those that are not about the topic, and only as far as there are enough of them: near its
seeds a crawl meets little else than its topic, and there the topic's own words would seem to be everybody's.

    mass        = Σ w              w = n (1 − p) of each page, 0 for seeds: how much off-topic background there is
    trust       = mass / (mass + kappa)
    importance  = max(floor, 1 − trust + trust · ln((mass + 2) / (df + 1)) / ln(mass + 2))
    m           = unit(mean_S z · share_S ^ agreement) + phrase_weight · unit(phrase · importance)
    m          −= trust · b (m·b) / (b·b),   b = Σ w z / mass       what every page has says nothing
    s           = z · unit(m)
    r           = clip((s − middle) / (level − middle), 0, 1)

`p` is the early probability (`calibration.py`): it rests on phrase and seeds alone, with every term alike, so that no
crawl, however many of its pages are on topic, can turn the topic's own words into background. Labels bend m in the end,
as `words_of_people.py` has it; r is that of the greater s then.

`n` is how much a page counts: 1, unless it stands for pages of other workers that did not come with it. `share_S` is
the share of the seeds that hold a term; `middle` the median of s over the sample; `level` the mean score of a seed when
it is left out of S, or two standard deviations above the middle where that is more. r rewards strategies and decides
no verdict: verdicts are probabilities at or above a threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from thresher.classify.calibration import (
    APART,
    EARLY,
    LATE,
    OTHER,
    PER_HEIGHT,
    Scale,
    early_evidence,
    late_evidence,
    logistic,
)
from thresher.classify.rows import Matrix, Numbers, Weights
from thresher.classify.words_of_people import Aims, Words, bend, errors

FLOOR = 0.05
"""The least importance of a term."""
FEWEST_PAGES = 10
"""Pages besides the seeds from which the reward has a middle of its own."""
MIDDLE_SHARE = 0.5
"""An ordinary page is at most this share as like the topic as a seed."""
UNNAMED = 0.5
"""Where no example contains a word of the phrase, or there is none, a page is taken to be this share as like it."""
LEVEL_WITHOUT_SEEDS = 0.25
"""A good score when there is neither a seed nor a background to learn it from."""


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What was chosen on dev topics; `docs/explanation/judges.md` says how."""

    kappa: float = 100.0
    agreement: float = 0.75
    phrase_weight: float = 0.5
    deviations: float = 2.0
    aims: Aims = field(default_factory=Aims)
    early: Sequence[float] = EARLY[OTHER]
    late: Sequence[float] = LATE[OTHER]


class Likeness(NamedTuple):
    """How like the topic a page is.

    Args:
        plain: To the topic's own vector.
        bent: To that vector as labels have bent it.
        early: To seeds and phrase before any crawl, all terms alike.
        named: To the phrase alone, all terms alike.
        apart: 1 when it never has words of the phrase side by side, though every example has; else 0.
    """

    plain: float
    bent: float
    early: float = 0.0
    named: float = 0.0
    apart: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EarlyModel:
    """The topic as it is known from phrase and seeds alone, all terms alike; the crawl cannot change it.

    Args:
        direction: The unit vector of seeds and phrase.
        phrase: The unit vector of the phrase.
        pairs: Numbers of the terms that stand for words of the phrase side by side; none where an example lacks them.
    """

    direction: Weights
    phrase: Weights
    pairs: Numbers

    def likeness(self, numbers: Numbers, weights: Weights, new_squares: float) -> tuple[float, float, float]:
        """Return `early`, `named` and `apart` of one page."""
        length = (float(weights @ weights) + new_squares) ** 0.5 or 1.0
        early, named = float(weights @ self.direction[numbers]), float(weights @ self.phrase[numbers])
        return early / length, named / length, float(len(self.pairs) > 0 and not np.isin(self.pairs, numbers).any())

    def likenesses(self, matrix: Matrix) -> list[Weights]:
        """Return the same of all pages of a sample."""
        lengths = _lengths(matrix, matrix.weights)
        vectors = (self.direction, self.phrase)
        alike = [matrix.sums(matrix.weights * vector.take(matrix.numbers)) / lengths for vector in vectors]
        return [*alike, matrix.without(self.pairs)]


@dataclass(frozen=True, kw_only=True)
class TopicModel:
    """A topic, ready to be compared with pages.

    Args:
        importance: Of each term by its number; a term that no page of the sample holds has 1, the most.
        direction: The topic's unit vector, by the numbers of the terms.
        bent: The same as people have bent it.
        middle: The score of an ordinary page.
        spread: The standard deviation of the scores.
        level: What a good score looks like.
        pages: How many pages the model has seen.
        scale: What scores are measured against to become probabilities.
        early: The topic as it was known before the crawl.
        late: The weights of the evidence.
    """

    importance: Weights
    direction: Weights
    bent: Weights
    middle: float
    spread: float
    level: float
    pages: int
    scale: Scale
    early: EarlyModel
    late: Sequence[float] = LATE[OTHER]

    def likeness(self, numbers: Numbers, weights: Weights, new_squares: float) -> Likeness:
        """Give s of one page: its known terms by number, and the sum of the squared weights of all others."""
        z = weights * self.importance[numbers]
        length = (float(z @ z) + new_squares) ** 0.5 or 1.0
        plain, bent = float(z @ self.direction[numbers]) / length, float(z @ self.bent[numbers]) / length
        return Likeness(plain, bent, *self.early.likeness(numbers, weights, new_squares))

    def probabilities(self, likenesses: Sequence[Likeness], *, taught: bool = True) -> Weights:
        """Return the probability of each page to be about the topic, with or without what labels taught."""
        plain, _, early, named, apart = _columns(likenesses)
        shift = (PER_HEIGHT * self.taught(likenesses) if taught else 0.0) - APART * apart
        return logistic(late_evidence(self.scale, plain, early, named), self.late, shift)

    def taught(self, likenesses: Sequence[Likeness]) -> Weights:
        """Return by how much labels have raised or lowered each page, in heights."""
        plain, bent = _columns(likenesses)[:2]
        heights: Weights = (bent - plain) / max(self.level - self.middle, 1e-9)
        return heights

    def height(self, s: float) -> float:
        """Tell where a score lies between an ordinary page (0) and a good one (1), or beyond."""
        return (s - self.middle) / max(self.level - self.middle, 1e-9)

    def reward(self, s: Likeness) -> float:
        """Give r of a page; people's words can only raise it, for what links lead to asks for a generous reward."""
        return min(max(self.height(max(s.plain, s.bent)), 0.0), 1.0)


def _columns(likenesses: Sequence[Likeness]) -> Weights:
    columns: Weights = np.array(likenesses, dtype=np.float64).reshape(-1, len(Likeness._fields)).T
    return columns


@dataclass(frozen=True, kw_only=True)
class Examples:
    """What the topic is known by.

    Args:
        places: Rows of the matrix that the topic is made of: seeds, or without any of them what people said yes to.
        seeds: Those of them that are original seeds, by which the level is told.
        phrase: Numbers of the phrase's terms, and their weights.
        pairs: Numbers of the terms that stand for words of the phrase side by side.
        words: What people said of pages.
    """

    places: Sequence[int]
    seeds: Sequence[int]
    phrase: Mapping[int, float]
    pairs: Sequence[int] = ()
    words: Words = field(default_factory=Words)


def fit(matrix: Matrix, terms: int, examples: Examples, constants: Constants) -> tuple[TopicModel, list[Likeness]]:
    """Learn the topic from the sample; return it with the score s of every page of the sample.

    Args:
        terms: How many terms have numbers.
    """
    early, left_out = _early(matrix, terms, examples, constants)
    likenesses = early.likenesses(matrix)
    known = Scale(examples=len(examples.places), early_left_out=left_out)
    on_topic = logistic(early_evidence(known, *likenesses[:2]), constants.early)
    on_topic[list(examples.words.no)] = 0.0
    model, s = _fit_once(matrix, terms, examples, constants, on_topic, early, known)
    model, after = _bent(model, s, matrix, examples, constants)
    columns = [values.tolist() for values in (s, after, *likenesses)]
    return model, list(map(Likeness, *columns))


def _early(matrix: Matrix, terms: int, examples: Examples, constants: Constants) -> tuple[EarlyModel, float]:
    """Learn the topic from phrase and seeds alone; return it with the mean score of a seed that is left out."""
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
    examples: Examples,
    constants: Constants,
    on_topic: Weights,
    early: EarlyModel,
    known: Scale,
) -> tuple[TopicModel, Weights]:
    w = matrix.pages * (1.0 - on_topic)
    w[[*examples.places, *examples.words.yes]] = 0.0
    mass = float(w.sum())
    trust = mass / (mass + constants.kappa)
    importance = _importance(matrix, terms, w, trust)
    z = matrix.weights * importance.take(matrix.numbers)  # not of length 1 yet: it is cheaper to divide sums than terms
    lengths = _lengths(matrix, z)
    shares = matrix.per_term(w / (max(mass, 1e-9) * lengths))
    b = np.bincount(matrix.numbers, z * shares, minlength=terms).astype(np.float64)
    shape = _Shape(matrix, z, lengths, b, importance, examples, constants, trust)
    direction, all_left_out = shape.direction(), shape.left_out_scores()
    left_out = all_left_out if examples.seeds else all_left_out[:0]  # the reward measures nothing by labels
    s = matrix.sums(z * direction.take(matrix.numbers)) / lengths
    middle, spread = _middle(s, matrix.pages, examples, left_out)
    mean = float(w @ s) / max(mass, 1e-9)
    deviation = float(w @ (s - mean) ** 2 / max(mass, 1e-9)) ** 0.5
    model = TopicModel(
        importance=importance,
        direction=direction,
        bent=direction,
        middle=middle,
        spread=spread,
        level=_level(left_out, middle, spread, constants),
        pages=len(s),
        scale=replace(known, left_out=_mean(all_left_out), mass=mass, mean=mean, deviation=deviation),
        early=early,
        late=constants.late,
    )
    return model, s


def _bent(
    model: TopicModel, s: Weights, matrix: Matrix, examples: Examples, constants: Constants
) -> tuple[TopicModel, Weights]:
    """Let labels bend the topic; return it with the scores after that."""
    words = examples.words
    if not (words.yes or words.no):
        return model, s
    z = matrix.weights * model.importance.take(matrix.numbers)
    lengths = _lengths(matrix, z)
    unit_z = replace(matrix, weights=z / matrix.per_term(lengths))
    scale = max(model.level - model.middle, 1e-9)
    missed = errors((s - model.middle) / scale, words, constants.aims)
    spoken = unit_z.rows([*words.yes, *words.no])
    v = bend(spoken, missed, constants.aims.noise, terms=len(model.direction))
    after = s + scale * unit_z.sums(unit_z.weights * v.take(matrix.numbers))
    return replace(model, bent=model.direction + scale * v), after


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


def _middle(s: Weights, n: Weights, examples: Examples, left_out: Weights) -> tuple[float, float]:
    at_most = MIDDLE_SHARE * float(left_out.mean()) if len(left_out) else None
    if len(s) < len(examples.places) + FEWEST_PAGES:
        return at_most or 0.0, 0.0
    median, spread = _median(s, n), _deviation(s, n)
    # where most of the crawl is on topic, the median is no ordinary page
    return median if at_most is None else min(median, at_most), spread


def _median(s: Weights, n: Weights) -> float:
    """Give the score that half of the crawl lies below."""
    if n.min() == n.max():
        return float(np.median(s))
    order = np.argsort(s, kind="stable")
    below = np.cumsum(n[order])
    return float(s[order][np.searchsorted(below, below[-1] / 2)])


def _deviation(s: Weights, n: Weights) -> float:
    mean = float(np.average(s, weights=n))
    return float(np.sqrt(np.average((s - mean) ** 2, weights=n)))


def _level(left_out: Weights, middle: float, spread: float, constants: Constants) -> float:
    candidates = [middle + constants.deviations * spread] if spread else []
    if len(left_out):
        candidates.append(float(left_out.mean()))
    return max(candidates, default=LEVEL_WITHOUT_SEEDS)


class _Shape:
    """The topic's vector m, and what it would be without one of its seeds, over the terms of the examples alone."""

    def __init__(
        self,
        matrix: Matrix,
        z: Weights,
        lengths: Weights,
        b: Weights,
        importance: Weights,
        examples: Examples,
        constants: Constants,
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
        """Score each example by all others."""
        return np.array([self._score_without(place) for place in range(len(self._rows))])

    def _score_without(self, place: int) -> float:
        m, along, length = self._topic(np.delete(self._rows, place, axis=0))
        z = self._rows[place]
        return float(z @ m - along * (z @ self._b)) / length if length else 0.0

    def _topic(self, rows: Weights) -> tuple[Weights, float, float]:
        """Return m before the projection, how much of b is taken out of it, and its length after that."""
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
