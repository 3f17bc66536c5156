"""Estimate how often a page changes from its visits: Cho and Garcia-Molina, Estimating Frequency of Change, 2003.

Changes are modelled as a Poisson process. A visit after I seconds finds a changed page with probability
1 - e^(-rate I), however many changes there were; the rate is the maximum-likelihood estimate. Where a server reports
when a page changed last, that is one change at a known time and none since.

One page has few observations, so the prior of a page is the rate of its host, and that of a host the rate of the crawl,
as if one change had been observed in the average time between two changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from thresher.storage.visits import PageVisit

DAY_SECONDS = 86_400.0
USUAL_RATE = 1 / (30 * DAY_SECONDS)
"""Changes per second of a page without observations: one in a month."""

_STEPS_PER_DOUBLING = 4
_SHORTEST_SECONDS = 1.0
_LOWEST, _HIGHEST = 1e-12, 1.0


@dataclass
class ChangeObservations:
    """Observations of one page, or of many pages; the size does not grow with their number.

    Args:
        known_changes: Changes at a known time.
        quiet_seconds: Total time without a change.
        changed: Number of intervals with one change or more, by the logarithm of their length.
    """

    known_changes: int = 0
    quiet_seconds: float = 0.0
    changed: Counter[int] = field(default_factory=Counter)

    def add_visits(self, visits: Iterable[PageVisit]) -> None:
        for visit in visits:
            seconds = max(visit.seconds, _SHORTEST_SECONDS)
            if visit.changed:
                self.changed[round(_STEPS_PER_DOUBLING * math.log2(seconds))] += 1
            else:
                self.quiet_seconds += seconds

    def add_age(self, seconds: float) -> None:
        """Add what a server reported: the last change was this long before the page was fetched."""
        self.known_changes += 1
        self.quiet_seconds += max(seconds, _SHORTEST_SECONDS)

    def add(self, other: ChangeObservations) -> None:
        self.known_changes += other.known_changes
        self.quiet_seconds += other.quiet_seconds
        self.changed.update(other.changed)

    def rate(self, usual: float) -> float:
        """Return the most likely rate of changes per second; `usual` is the prior."""
        if not (self.known_changes or self.quiet_seconds or self.changed):
            return usual
        low, high = math.log(_LOWEST), math.log(_HIGHEST)
        for _ in range(50):  # bisection: the slope falls with the rate, so it has one root
            middle = (low + high) / 2
            low, high = (middle, high) if self._slope(math.exp(middle), usual) > 0 else (low, middle)
        return math.exp(low)

    def _slope(self, rate: float, usual: float) -> float:
        """Return the derivative of the log-likelihood by the rate."""
        slope = (1 + self.known_changes) / rate - 1 / usual - self.quiet_seconds
        for step, number in self.changed.items():
            seconds: float = 2 ** (step / _STEPS_PER_DOUBLING)
            slope += number * seconds / math.expm1(min(rate * seconds, 700.0))
        return slope


def probability_of_change(rate: float, seconds: float) -> float:
    """Return the probability that a page has changed after some time."""
    return -math.expm1(-rate * max(seconds, 0.0))
