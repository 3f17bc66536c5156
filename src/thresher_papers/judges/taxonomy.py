"""Soft and hard focus over a taxonomy of classes: RULES, section 2, after Chakrabarti, van den Berg and Dom, 1999."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import ConfigError
from thresher.judges.base import MAX_WORDS
from thresher.records import Judgement, ParsedPage, TermWeight
from thresher.topics.profile import TopicProfile
from thresher_papers.judges.focus import Scores, hard_focus, soft_focus
from thresher_papers.judges.persistence.scorer import PlainScorer
from thresher_papers.judges.trained.learner import require_scikit_learn

CLASSES_REPORTED = 3
"""How many of the likeliest classes a judgement lists."""


class TaxonomyJudge:
    """Judge a page by how likely it is of one of the wanted classes.

    Args:
        topic_profile: The topic; the classifier is trained once, here, on its classes.
        terms: How many terms are kept per class.
        threshold: The relevance from which a page is relevant.
    """

    def __init__(self, topic_profile: TopicProfile, *, terms: int = 500, threshold: float = 0.5) -> None:
        require_scikit_learn("judge taxonomy")
        self._threshold = threshold
        classes = {path: texts for path, texts in topic_profile.classes().items() if texts}
        if len(classes) < 2:
            raise ConfigError("judge taxonomy trains on the classes of a taxonomy; give taxonomy: in topic.yaml")
        self._targets = target_classes(classes, topic_profile.targets)
        self._scorer = train(classes, terms=terms)
        wanted = np.array([label in self._targets for label in self._scorer.labels])
        self._odds = _Odds(self._scorer, wanted)

    def judge(self, page: ParsedPage) -> Judgement:
        scores = self._scores(page)
        relevance = soft_focus(scores, self._targets)
        return Judgement(relevance=relevance, relevant=relevance >= self._threshold, breakdown=_likeliest(scores))

    def words(self, page: ParsedPage) -> Sequence[TermWeight]:
        return self._odds.words(self._scorer.count(page))[:MAX_WORDS]

    def _scores(self, page: ParsedPage) -> Scores:
        """Return the probability of every class; all 0 for a page without a known term."""
        counts = self._scorer.count(page)
        if self._scorer.vocabulary.keys().isdisjoint(counts):
            return dict.fromkeys(self._scorer.labels, 0.0)
        return self._scorer.probabilities(counts)


class HardFocusJudge(TaxonomyJudge):
    """Judge a page by whether its likeliest class is wanted and likely enough: 1 or 0.

    Args:
        topic_profile: The topic; the classifier is trained once, here, on its classes.
        terms: How many terms are kept per class.
        least: The lowest accepted probability of the best class.
    """

    def __init__(self, topic_profile: TopicProfile, *, terms: int = 500, least: float = 0.5) -> None:
        super().__init__(topic_profile, terms=terms)
        self._least = least

    def judge(self, page: ParsedPage) -> Judgement:
        scores = self._scores(page)
        relevant = hard_focus(scores, self._targets, least=self._least)
        return Judgement(
            relevance=float(relevant),
            relevant=relevant,
            reward=soft_focus(scores, self._targets),
            breakdown=_likeliest(scores),
        )


def train(classes: Mapping[str, Sequence[Any]], *, terms: int = 500, counted: bool = False) -> PlainScorer:
    """Train naive Bayes on the plain words of all classes; the scorer counts pages in the same way.

    The texts of a directory have no sections, so sections have no weights here, neither in training nor in a crawl.

    Args:
        classes: The texts of each class.
        terms: How many terms are kept per class.
        counted: Whether term counts of plain texts are given in place of texts.
    """
    from sklearn.pipeline import Pipeline  # type: ignore[import-untyped]  # imported lazily: listing judges needs none

    from thresher_papers.judges.estimators.chi_square import ChiSquareSelector
    from thresher_papers.judges.estimators.section_counter import CountedAlready, SectionCounter
    from thresher_papers.judges.estimators.sections import PLAIN_WEIGHTS
    from thresher_papers.judges.estimators.taxonomy_classifier import TaxonomyClassifier
    from thresher_papers.judges.persistence.flatten import flatten

    texts = [text for own in classes.values() for text in own]
    labels = [path for path, own in classes.items() for _ in own]
    steps = [
        ("count", (CountedAlready if counted else SectionCounter)(**PLAIN_WEIGHTS)),
        ("choose", ChiSquareSelector(per_class=terms)),
        ("classify", TaxonomyClassifier(random_state=0)),
    ]
    return flatten(Pipeline(steps).fit(texts, labels))


def target_classes(classes: Collection[str], targets: Collection[str]) -> frozenset[str]:
    """Return the classes of the wanted nodes: all at or below a node, or else the nearest ancestor.

    Raises:
        ConfigError: No node is wanted, or one of them has no class.
    """
    if not targets:
        raise ConfigError("judge taxonomy needs wanted classes; give taxonomy.nodes in topic.yaml")
    found: set[str] = set()
    for target in targets:
        below = {path for path in classes if path == target or path.startswith(f"{target}/")}
        above = [path for path in classes if target.startswith(f"{path}/")]
        if not below and not above:
            raise ConfigError(f"taxonomy node {target!r} has no class: too few example pages there and above it")
        found |= below or {max(above, key=len)}
    return frozenset(found)


def _likeliest(scores: Scores) -> dict[str, float]:
    best = sorted(scores, key=lambda label: -scores[label])[:CLASSES_REPORTED]
    return {f"class {label}": scores[label] for label in best}


class _Odds:
    """The log-odds that single terms add for some classes against all others."""

    def __init__(self, scorer: PlainScorer, wanted: NDArray[np.bool_]) -> None:
        self._scorer = scorer
        self._sides = (wanted, ~wanted)

    def words(self, counts: Mapping[str, float]) -> list[TermWeight]:
        vocabulary = self._scorer.vocabulary
        known = {term: tf for term, tf in counts.items() if term in vocabulary}
        scale = self._scorer.temperature / max(sum(known.values()), 1.0)
        words = [
            TermWeight(term=term, weight=scale * tf * self._log_odds(vocabulary[term])) for term, tf in known.items()
        ]
        return sorted(words, key=lambda word: -abs(word.weight))

    def _log_odds(self, row: int) -> float:
        log_likelihood, log_prior = self._scorer.contributions(row), self._scorer.intercept
        wanted, others = (_log_mean(log_likelihood[side], log_prior[side]) for side in self._sides)
        return wanted - others


def _log_mean(log_likelihood: NDArray[np.float64], log_prior: NDArray[np.float64]) -> float:
    """Return log P(t) over some classes, weighted by their priors; 0 for no class."""
    if not len(log_prior):
        return 0.0
    return float(np.logaddexp.reduce(log_likelihood + log_prior) - np.logaddexp.reduce(log_prior))
