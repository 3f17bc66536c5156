"""Does a paper's claim hold here? Verdicts are computed from curves over topics, never written by hand.

A curve is what a crawl has after each portion of its budget. A claim *a > b* is tested in the means over topics at
every portion, and by the mean of the whole curve, with a bootstrap interval of its differences, topic by topic. The end
of a curve alone means little on a frozen web: there, all crawls may have found everything. Portions at which even an
oracle would not be ahead of b therefore do not count, and where there are no others, or where the paper's factor is
above what an oracle reaches, the claim is not testable.
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
NEAR_CEILING = 0.95
"""Share of what an oracle has from which nothing can be clearly better."""
NEARLY, HALF = 0.8, 0.5
"""Shares of the paper's factor: from here a claim on a factor holds, from here in part."""


class Verdict(StrEnum):
    """The result of a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    FAILS = "does not hold here"
    UNTESTABLE = "not testable here"


@dataclass(frozen=True, kw_only=True)
class ClaimResult:
    """A claim on a web, its verdict, and why.

    Args:
        claim: What the paper says, the same for all webs.
        place: The web, and the conditions of its crawls.
        ceiling: What an oracle would have, as a multiple of the baseline; None where that is unknown.
    """

    claim: str
    place: str = ""
    verdict: Verdict
    reason: str
    ceiling: float | None = None


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One strategy against another.

    Args:
        above: At how many portions its mean is higher.
        portions: Of how many, those left out at which an oracle would not be clearly higher either.
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
        if not self.portions:
            return Verdict.UNTESTABLE
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
    """Compare two strategies; the curves of `ORACLE`, if there are any, say where one can be better at all."""
    ours, theirs = (np.array(list(curves[name].values())) for name in (better, worse))
    at = np.ones(ours.shape[1], dtype=bool)
    if curves.get(ORACLE):
        best = np.array([curves[ORACLE][topic] for topic in curves[better]])
        at = theirs.mean(axis=0) < NEAR_CEILING * best.mean(axis=0)
    above = int((ours.mean(axis=0) > theirs.mean(axis=0))[at].sum())
    gain = bootstrap_difference(ours.mean(axis=1).tolist(), theirs.mean(axis=1).tolist())
    return Pair(better=better, worse=worse, above=above, portions=int(at.sum()), gain=gain)


def judge_order(
    claim: str, place: str, curves: Curves, order: Sequence[str], *, scale: float = 1.0, unit: str = ""
) -> ClaimResult:
    """Judge the claim that each strategy is better than the next one, at every portion.

    That the first, the paper's own, is the best is the headline: without it the claim does not hold, whatever the order
    of the others.
    """
    if missing := [name for name in order if not curves.get(name)]:
        return untestable(claim, place, f"no rows of {', '.join(missing)}")
    if len(curves[order[0]]) < MIN_TOPICS:
        return untestable(claim, place, "one topic only")
    pairs = [compare(curves, better, worse) for better, worse in pairwise(order)]
    ceiling = ceiling_of(curves, order[-1])
    if all(not pair.portions for pair in pairs):
        return untestable(claim, place, "an oracle would not be clearly ahead either", ceiling)
    means = {name: float(np.mean(list(curves[name].values()))) for name in order}
    here = " > ".join(sorted(means, key=lambda name: -means[name]))
    figures = "; ".join(pair.words(scale, unit) for pair in pairs)
    reason = f"here {here}, on average over {len(curves[order[0]])} topics: {figures}"
    verdict = together(pair.verdict for pair in pairs)
    if beaten_by := [name for name in order[1:] if means[name] >= means[order[0]]]:
        reason = f"the headline fails, {order[0]} is not above {', '.join(beaten_by)}; {reason}"
        verdict = Verdict.FAILS
    return ClaimResult(claim=claim, place=place, verdict=verdict, reason=reason, ceiling=ceiling)


def judge_factor(claim: str, place: str, curves: Curves, ours: Sequence[str], base: str, factor: float) -> ClaimResult:
    """Judge the claim that one strategy has several times as much in the end as another; the best of `ours` counts.

    Where not even an oracle has nearly that, nothing can be learned of the claim.
    """
    present = [name for name in ours if curves.get(name)]
    if not present or not curves.get(base) or not (least := end(curves, base).mean):
        return untestable(claim, place, "no rows")
    ratios = {name: end(curves, name).mean / least for name in present}
    reason = ", ".join(f"{name} {ratio:.2f} ×" for name, ratio in ratios.items())
    ceiling = end(curves, ORACLE).mean / least if curves.get(ORACLE) else None
    if ceiling is not None and ceiling < NEARLY * factor:
        return untestable(claim, place, f"an oracle has {ceiling:.2f} × {base}; {reason}", ceiling)
    best = max(ratios.values()) / factor
    verdict = Verdict.HOLDS if best >= NEARLY else Verdict.IN_PART if best >= HALF else Verdict.FAILS
    return ClaimResult(claim=claim, place=place, verdict=verdict, reason=reason, ceiling=ceiling)


ORACLE = "oracle"
"""Its curves are computed and not crawled: with every fetch a page of the topic, until there are none left."""


def with_oracle(curves: Curves, rows: Iterable[Row], *, per_fetch: bool = True) -> Curves:
    """Add the curves of an oracle: of relevant pages per planned fetch, or as shares of the topic's pages."""
    topics: defaultdict[str, list[Curve]] = defaultdict(list)
    for row in rows:
        portions = len(row["portions"]["labels"])
        places = [row["pages"] * part / portions for part in range(1, portions + 1)]
        found = [min(place, max(row["targets"], row["portions"]["labels"][-1])) for place in places]
        divisors = places if per_fetch else [max(row["targets"], 1)] * portions
        topics[f"{row['web']} {row['topic']}"].append([a / b for a, b in zip(found, divisors, strict=True)])
    return {**curves, ORACLE: {topic: np.mean(own, axis=0).tolist() for topic, own in topics.items()}}


def ceiling_of(curves: Curves, base: str) -> float | None:
    """Return what an oracle has on average, as a multiple of a strategy."""
    if not (curves.get(ORACLE) and curves.get(base)):
        return None
    topics = list(curves[base].values()), [curves[ORACLE][topic] for topic in curves[base]]
    least, most = (float(np.mean(own)) for own in topics)
    return most / least if least else None


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Combine verdicts: all hold, none does, or something in between; what is not testable does not count."""
    found = set(verdicts) - {Verdict.UNTESTABLE}
    if found in ({Verdict.HOLDS}, {Verdict.FAILS}):
        return found.pop()
    return Verdict.IN_PART if found else Verdict.UNTESTABLE


def untestable(claim: str, place: str, why: str, ceiling: float | None = None) -> ClaimResult:
    """Return the result of a claim of which nothing can be learned there."""
    return ClaimResult(claim=claim, place=place, verdict=Verdict.UNTESTABLE, reason=why, ceiling=ceiling)
