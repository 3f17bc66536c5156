"""What a topic looks like against the background of the crawl: the arithmetic of the adaptive judge.

A page is the vector ``z = unit(ln(1 + n) · importance)`` of its terms. How much a term matters is told by the pages
crawled so far, but only by those that are not about the topic, and only as far as there are enough of them: near its
seeds a crawl meets little else than its topic, and there the topic's own words would seem to be everybody's.

    mass        = Σ w              w = n (1 − r) of each page, 0 for seeds: how much off-topic background there is
    trust       = mass / (mass + kappa)
    importance  = max(floor, 1 − trust + trust · ln((mass + 2) / (df + 1)) / ln(mass + 2))
    m           = unit(mean_S z · share_S ^ agreement) + phrase_weight · unit(phrase · importance)
    m          −= trust · b (m·b) / (b·b),   b = Σ w z / mass       what every page has says nothing
    s           = z · unit(m)
    r           = clip((s − middle) / (level − middle), 0, 1)

What people say of pages bends m in the end, as `words_of_people.py` has it; r is that of the greater s then.

`n` is how much a page counts: 1, unless it stands for pages of other workers that did not come with it. `share_S` is
the share of the seeds that hold a term; `middle` the median of s over the sample; `level` the mean score of a seed when
it is left out of S, or two standard deviations above the middle where that is more. As w needs r and r needs w, it is
done twice; not more often, and never from what was thought before, or it would come to believe itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from thresher.classify.rows import Matrix, Numbers, Weights
from thresher.classify.words_of_people import Aims, Words, bend, errors

FLOOR = 0.05
"""The least importance of a term."""
FEWEST_PAGES = 10
"""Pages besides the seeds from which a middle can be told."""
MIDDLE_SHARE = 0.5
"""An ordinary page is at most this share as like the topic as a seed."""
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


class Likeness(NamedTuple):
    """How like the topic a page is: to the topic's own vector, and to what people have made of it."""

    plain: float
    bent: float


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
    """

    importance: Weights
    direction: Weights
    bent: Weights
    middle: float
    spread: float
    level: float
    pages: int

    def likeness(self, numbers: Numbers, weights: Weights, new_squares: float) -> Likeness:
        """Give s of one page: its known terms by number, and the sum of the squared weights of all others."""
        z = weights * self.importance[numbers]
        length = (float(z @ z) + new_squares) ** 0.5 or 1.0
        return Likeness(float(z @ self.direction[numbers]) / length, float(z @ self.bent[numbers]) / length)

    def height(self, s: float) -> float:
        """Tell where a score lies between an ordinary page (0) and a good one (1), or beyond."""
        return (s - self.middle) / max(self.level - self.middle, 1e-9)

    def reward(self, s: Likeness) -> float:
        """Give r of a page; people's words can only raise it, for what links lead to asks for a generous reward."""
        return min(max(self.height(max(s)), 0.0), 1.0)


@dataclass(frozen=True, kw_only=True)
class Examples:
    """What the topic is known by.

    Args:
        places: Rows of the matrix that the topic is made of: seeds, or without any of them what people said yes to.
        seeds: Those of them that are original seeds, by which the level is told.
        phrase: Numbers of the phrase's terms, and their weights.
        words: What people said of pages.
    """

    places: Sequence[int]
    seeds: Sequence[int]
    phrase: Mapping[int, float]
    words: Words = field(default_factory=Words)


def fit(matrix: Matrix, terms: int, examples: Examples, constants: Constants) -> tuple[TopicModel, list[Likeness]]:
    """Learn the topic from the sample; return it with the score s of every page of the sample.

    Args:
        terms: How many terms have numbers.
    """
    pages = len(matrix.lengths)
    first, s = _fit_once(matrix, terms, examples, constants, np.zeros(pages))
    if pages < len(examples.places) + FEWEST_PAGES:
        return _bent(first, s, matrix, examples, constants)
    median = _median(s, matrix.pages)  # half of the crawl is background, however good the crawl is
    on_topic = np.clip((s - median) / max(first.level - median, 1e-9), 0.0, 1.0)
    on_topic[list(examples.words.no)] = 0.0
    second, s = _fit_once(matrix, terms, examples, constants, on_topic)
    return _bent(second, s, matrix, examples, constants)


def _fit_once(
    matrix: Matrix, terms: int, examples: Examples, constants: Constants, r: Weights
) -> tuple[TopicModel, Weights]:
    w = matrix.pages * (1.0 - r)
    w[[*examples.places, *examples.words.yes]] = 0.0
    mass = float(w.sum())
    trust = mass / (mass + constants.kappa)
    importance = _importance(matrix, terms, w, trust)
    z = matrix.weights * importance.take(matrix.numbers)  # not of length 1 yet: it is cheaper to divide sums than terms
    lengths = np.sqrt(matrix.sums(z * z))
    lengths[lengths < 1e-12] = 1.0
    shares = matrix.per_term(w / (max(mass, 1e-9) * lengths))
    b = np.bincount(matrix.numbers, z * shares, minlength=terms).astype(np.float64)
    shape = _Shape(matrix, z, lengths, b, importance, examples, constants, trust)
    direction, left_out = shape.direction(), shape.left_out_scores()
    s = matrix.sums(z * direction.take(matrix.numbers)) / lengths
    middle, spread = _middle(s, matrix.pages, examples, left_out)
    model = TopicModel(
        importance=importance,
        direction=direction,
        bent=direction,
        middle=middle,
        spread=spread,
        level=_level(left_out, middle, spread, constants),
        pages=len(s),
    )
    return model, s


def _bent(
    model: TopicModel, s: Weights, matrix: Matrix, examples: Examples, constants: Constants
) -> tuple[TopicModel, list[Likeness]]:
    """Let what people said bend the topic; return it with the scores before and after."""
    words = examples.words
    if not (words.yes or words.no):
        return model, list(map(Likeness, s.tolist(), s.tolist()))
    z = matrix.weights * model.importance.take(matrix.numbers)
    lengths = np.sqrt(matrix.sums(z * z))
    lengths[lengths < 1e-12] = 1.0
    unit_z = replace(matrix, weights=z / matrix.per_term(lengths))
    scale = max(model.level - model.middle, 1e-9)
    missed = errors((s - model.middle) / scale, words, constants.aims)
    spoken = unit_z.rows([*words.yes, *words.no])
    v = bend(spoken, missed, constants.aims.noise, terms=len(model.direction))
    after = s + scale * unit_z.sums(unit_z.weights * v.take(matrix.numbers))
    return replace(model, bent=model.direction + scale * v), list(map(Likeness, s.tolist(), after.tolist()))


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
        self._seeds = [list(examples.places).index(seed) for seed in examples.seeds]
        self._agreement, self._trust = constants.agreement, trust

    def direction(self) -> Weights:
        """Return unit(m) over all terms."""
        m, along, length = self._topic(self._rows)
        full = -along * self._background
        full[self._terms] += m
        return full / length if length else full

    def left_out_scores(self) -> Weights:
        """Score each original seed by all examples but itself."""
        return np.array([self._score_without(place) for place in self._seeds])

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
