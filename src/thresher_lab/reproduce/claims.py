"""Does a paper's claim hold here? Verdicts are computed from curves over topics, never written by hand.

A curve is what a crawl has after each portion of its budget. A claim *a > b* is tested in the means over topics at
every portion, and by the mean of the whole curve, with a bootstrap interval of its differences, topic by topic. The end
of a curve alone means little on a frozen web: there, all crawls may have found everything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from thresher_lab.reports.comparisons import strategy_label
from thresher_lab.statistics.significance import Interval, bootstrap_difference, bootstrap_mean

Row = Mapping[str, Any]
Curve = Sequence[float]
Curves = Mapping[str, Mapping[str, Curve]]
"""From strategy over topic to its curve; every strategy has the same topics."""


MIN_TOPICS = 2
"""With one topic there is no interval."""


class Verdict(StrEnum):
    """The result of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold here"
    UNTESTED = "not tested"


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """A claim, its verdict, and why."""

    claim: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One strategy against another.

    Args:
        above: At how many portions its mean is higher.
        portions: Of how many.
        gain: The difference of the means of their curves, with its interval.
    """

    better: str
    worse: str
    above: int
    portions: int
    gain: Interval

    @property
    def verdict(self) -> Verdict:
        """Whether the first is better: everywhere and significantly, on the whole, or not."""
        if self.above == self.portions and self.gain.low > 0:
            return Verdict.HOLDS
        return Verdict.IN_PART if self.gain.mean > 0 else Verdict.FAILS

    def words(self, scale: float = 1.0, unit: str = "") -> str:
        """Return the comparison in figures."""
        mean, low, high = (f"{scale * value:+.2f}" for value in (self.gain.mean, self.gain.low, self.gain.high))
        unit = f" {unit}" if unit else ""
        return (
            f"{self.better} > {self.worse} at {self.above} of {self.portions} portions, "
            f"on average {mean} [{low}, {high}]{unit}"
        )


def paired(
    rows: Iterable[Row], strategies: Sequence[str], value: Callable[[Row], Curve]
) -> dict[str, dict[str, Curve]]:
    """Return the curves of some strategies over the topics and seed sets that all of them have.

    Seed sets are averaged within their topic; topics of different webs are different.
    """
    found: dict[str, dict[tuple[str, int], Curve]] = {name: {} for name in strategies}
    for row in rows:
        if (name := strategy_label(dict(row))) in found:
            found[name][f"{row['web']} {row['topic']}", row["seed_set"]] = value(row)
    common = set.intersection(*(set(own) for own in found.values())) if found else set()
    return {name: _by_topic({place: own[place] for place in common}) for name, own in found.items()}


def labels_in(rows: Iterable[Row], names: Sequence[str]) -> list[str]:
    """Return those of some strategies that have rows."""
    known = {strategy_label(dict(row)) for row in rows}
    return [name for name in names if name in known]


def _by_topic(curves: Mapping[tuple[str, int], Curve]) -> dict[str, Curve]:
    topics: defaultdict[str, list[Curve]] = defaultdict(list)
    for (topic, _), curve in sorted(curves.items()):
        topics[topic].append(curve)
    return {topic: np.mean(own, axis=0).tolist() for topic, own in topics.items()}


def end(curves: Curves, name: str) -> Interval:
    """Return the mean over topics at the end, with its interval."""
    return bootstrap_mean([curve[-1] for curve in curves[name].values()])


def compare(curves: Curves, better: str, worse: str) -> Pair:
    """Compare two strategies."""
    ours, theirs = (np.array(list(curves[name].values())) for name in (better, worse))
    above = int((ours.mean(axis=0) > theirs.mean(axis=0)).sum())
    gain = bootstrap_difference(ours.mean(axis=1).tolist(), theirs.mean(axis=1).tolist())
    return Pair(better=better, worse=worse, above=above, portions=ours.shape[1], gain=gain)


def judge_order(claim: str, curves: Curves, order: Sequence[str], *, scale: float = 1.0, unit: str = "") -> ClaimResult:
    """Judge the claim that each strategy is better than the next one, at every portion.

    That the first, the paper's own, is the best is the headline: without it the claim does not hold, whatever the order
    of the others.
    """
    if missing := [name for name in order if not curves.get(name)]:
        return untested(claim, f"no rows of {', '.join(missing)}")
    if len(curves[order[0]]) < MIN_TOPICS:
        return untested(claim, "one topic only")
    pairs = [compare(curves, better, worse) for better, worse in pairwise(order)]
    means = {name: float(np.mean(list(curves[name].values()))) for name in order}
    here = " > ".join(sorted(means, key=lambda name: -means[name]))
    figures = "; ".join(pair.words(scale, unit) for pair in pairs)
    reason = f"here {here}, on average over {len(curves[order[0]])} topics: {figures}"
    if beaten_by := [name for name in order[1:] if means[name] >= means[order[0]]]:
        headline = f"the headline fails, {order[0]} is not above {', '.join(beaten_by)}"
        return ClaimResult(claim=claim, verdict=Verdict.FAILS, reason=f"{headline}; {reason}")
    return ClaimResult(claim=claim, verdict=together(pair.verdict for pair in pairs), reason=reason)


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts: all hold, none does, or something in between."""
    found = set(verdicts)
    if found in ({Verdict.HOLDS}, {Verdict.FAILS}):
        return found.pop()
    return Verdict.IN_PART if found else Verdict.UNTESTED


def untested(claim: str, why: str) -> ClaimResult:
    """Return the result of a claim without data."""
    return ClaimResult(claim=claim, verdict=Verdict.UNTESTED, reason=why)
