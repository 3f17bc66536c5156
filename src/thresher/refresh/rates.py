"""How often a page changes, from what its visits saw: Cho and Garcia-Molina, Estimating Frequency of Change, 2003.

Changes are taken to come at random times with a rate. A visit after I seconds finds a changed page with probability
1 - e^(-rate I), whatever happened in between; so the rate is the one that makes what was seen most likely. Where a
server says when a page changed last, that is one change at a known time and no other one since.

What was seen of one page is little, so it starts from the rate of its host, and a host from the rate of the crawl, as
if one change had been seen there in the time that it takes on the average.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from thresher.archive.visits import Visit

DAY_SECONDS = 86_400.0
USUAL_RATE = 1 / (30 * DAY_SECONDS)
"""Changes per second of a page of which nothing is known: one in a month."""

_STEPS_PER_DOUBLING = 4
_SHORTEST_SECONDS = 1.0
_LOWEST, _HIGHEST = 1e-12, 1.0


@dataclass
class Sightings:
    """What visits of a page, or of many pages, saw; its size does not grow with their number.

    Args:
        known_changes: Changes whose time is known.
        quiet_seconds: Time in which there was no change.
        changed: How many intervals saw a change or more, by the logarithm of their length.
    """

    known_changes: int = 0
    quiet_seconds: float = 0.0
    changed: Counter[int] = field(default_factory=Counter)

    def take(self, visits: Iterable[Visit]) -> None:
        """Add visits."""
        for visit in visits:
            seconds = max(visit.seconds, _SHORTEST_SECONDS)
            if visit.changed:
                self.changed[round(_STEPS_PER_DOUBLING * math.log2(seconds))] += 1
            else:
                self.quiet_seconds += seconds

    def take_age(self, seconds: float) -> None:
        """Add what a server said: the last change was so long before the page was fetched."""
        self.known_changes += 1
        self.quiet_seconds += max(seconds, _SHORTEST_SECONDS)

    def add(self, other: Sightings) -> None:
        """Add all that was seen elsewhere."""
        self.known_changes += other.known_changes
        self.quiet_seconds += other.quiet_seconds
        self.changed.update(other.changed)

    def rate(self, usual: float) -> float:
        """Return the most likely rate of changes per second, when nothing seen would mean `usual`."""
        if not (self.known_changes or self.quiet_seconds or self.changed):
            return usual
        low, high = math.log(_LOWEST), math.log(_HIGHEST)
        for _ in range(50):  # the slope falls with the rate, so it is 0 once
            middle = (low + high) / 2
            low, high = (middle, high) if self._slope(math.exp(middle), usual) > 0 else (low, middle)
        return math.exp(low)

    def _slope(self, rate: float, usual: float) -> float:
        """Return by how much what was seen gets more likely when the rate grows."""
        slope = (1 + self.known_changes) / rate - 1 / usual - self.quiet_seconds
        for step, number in self.changed.items():
            seconds: float = 2 ** (step / _STEPS_PER_DOUBLING)
            slope += number * seconds / math.expm1(min(rate * seconds, 700.0))
        return slope


def probability_of_change(rate: float, seconds: float) -> float:
    """Return how likely a page has changed after some time."""
    return -math.expm1(-rate * max(seconds, 0.0))
