"""Statistical tests of comparisons: topics are the sample, not seed sets and not pages.

Two crawls of one topic from different seeds are not independent, so repeats and seed sets are averaged within their
topic first, and everything else works on one value per topic:

    bootstrap    topics are sampled with replacement, 10,000 times; the interval is the middle 95 % of the means
    Wilcoxon     signed-rank test of the differences to the baseline, two-sided, equal topics left out
    Holm         p_(i) is multiplied by the number of strategies whose p is not smaller, then made to rise, at most 1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import wilcoxon  # type: ignore[import-untyped]

RESAMPLES = 10_000
CONFIDENCE = 0.95
DECIMALS = 12
"""Differences are rounded to this many decimals, so that floating-point noise is neither a win nor a rank."""

Task = tuple[str, str | int]
"""A topic and one of its seed sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One crawl's figure; rows with the same strategy, topic and seed set are repeats, and are averaged."""

    strategy: str
    topic: str
    seed_set: str | int
    value: float


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over topics and the bounds of its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TopicValue:
    """A topic and a strategy's value there."""

    topic: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The result of a strategy over all topics, alone and against the baseline.

    Args:
        strategy: Its name.
        mean: Its mean over topics.
        difference: The mean of its differences to the baseline, topic by topic.
        p: Of the signed-rank test against the baseline, Holm-corrected over strategies; 1 for the baseline itself.
        wins: The topics where it is better than the baseline.
        losses: Those where it is worse.
        ties: Those where both are equal.
        worst: The topic of its lowest value.
        worst_difference: The topic where it falls back most behind the baseline, or gains least.
    """

    strategy: str
    mean: Interval
    difference: Interval
    p: float
    wins: int
    losses: int
    ties: int
    worst: TopicValue
    worst_difference: TopicValue


def bootstrap_mean(values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return the mean of one value per topic, with its percentile bootstrap interval.

    The same seed samples the same topics for every strategy, so intervals of one table can be compared.

    Raises:
        ValueError: There are no values.
    """
    if not len(values):
        raise ValueError("a mean needs the value of at least 1 topic, got none")
    sample = np.asarray(values, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(sample.size, size=(resamples, sample.size))
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(sample[draws].mean(axis=1), [tail, 1 - tail])
    return Interval(float(sample.mean()), float(low), float(high))


def bootstrap_difference(
    values: Sequence[float], baseline: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval:
    """Return the mean of values - baseline, paired by topic, with its percentile bootstrap interval."""
    return bootstrap_mean(_differences(values, baseline), seed=seed, resamples=resamples)


def wilcoxon_p(values: Sequence[float], baseline: Sequence[float]) -> float:
    """Return the two-sided p of Wilcoxon's signed-rank test over topics; 1 when no topic differs."""
    differences = np.asarray(_differences(values, baseline))
    differences = differences[differences != 0]
    return float(wilcoxon(differences).pvalue) if differences.size else 1.0


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Correct the p of several comparisons: max over j <= i of min(1, (n - j + 1) · p_(j)), p in rising order."""
    corrected, highest = {}, 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        corrected[name] = highest
    return {name: corrected[name] for name in p_values}


def topic_means(rows: Iterable[Score]) -> dict[str, dict[str, float]]:
    """Average repeats within their seed set, then seed sets within their topic: strategy -> topic -> value.

    Raises:
        ValueError: A value is not finite, or a strategy lacks a topic or seed set that another one has.
    """
    repeats: defaultdict[str, defaultdict[Task, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if not np.isfinite(row.value):
            raise ValueError(f"values must be finite, got {row}")
        repeats[row.strategy][row.topic, row.seed_set].append(row.value)
    _check_pairs({strategy: set(tasks) for strategy, tasks in repeats.items()})
    return {strategy: _means_by_topic(tasks) for strategy, tasks in repeats.items()}


def compare_paired(
    rows: Iterable[Score], baseline: str, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Comparison, ...]:
    """Compare every strategy with the baseline over the same topics and seed sets, in the order of the rows.

    Raises:
        ValueError: The baseline has no rows, or the rows cannot be paired (see `topic_means`).
    """
    means = topic_means(rows)
    if baseline not in means:
        raise ValueError(f"the baseline {baseline!r} has no rows; strategies: {', '.join(sorted(means))}")
    topics = sorted(means[baseline])
    values = {strategy: [by_topic[topic] for topic in topics] for strategy, by_topic in means.items()}
    p_values = {name: wilcoxon_p(values[name], values[baseline]) for name in values if name != baseline}
    corrected = holm(p_values) | {baseline: 1.0}

    def compare(strategy: str) -> Comparison:
        differences = _differences(values[strategy], values[baseline])
        return Comparison(
            strategy=strategy,
            mean=bootstrap_mean(values[strategy], seed=seed, resamples=resamples),
            difference=bootstrap_mean(differences, seed=seed, resamples=resamples),
            p=corrected[strategy],
            wins=sum(difference > 0 for difference in differences),
            losses=sum(difference < 0 for difference in differences),
            ties=differences.count(0),
            worst=_lowest(topics, values[strategy]),
            worst_difference=_lowest(topics, differences),
        )

    return tuple(compare(strategy) for strategy in values)


def _differences(values: Sequence[float], baseline: Sequence[float]) -> list[float]:
    return [round(value - base, DECIMALS) for value, base in zip(values, baseline, strict=True)]


def _lowest(topics: Sequence[str], values: Sequence[float]) -> TopicValue:
    return min((TopicValue(*pair) for pair in zip(topics, values, strict=True)), key=lambda worst: worst.value)


def _means_by_topic(tasks: Mapping[Task, list[float]]) -> dict[str, float]:
    seed_sets = defaultdict(list)
    for (topic, _), values in tasks.items():
        seed_sets[topic].append(float(np.mean(values)))
    return {topic: float(np.mean(values)) for topic, values in seed_sets.items()}


def _check_pairs(tasks: Mapping[str, set[Task]]) -> None:
    everything: set[Task] = set().union(*tasks.values())
    for strategy, own in tasks.items():
        if missing := sorted(everything - own, key=str):
            raise ValueError(f"strategy {strategy!r} has no value for (topic, seed set) {missing[0]}: pairs need all")
