"""Which pages are revisited, and in what order: by the probability that they have changed, times their relevance.

`ChangeObservations` estimate how often a page changes: Cho and Garcia-Molina, Estimating Frequency of Change, 2003.

Changes are modelled as a Poisson process. A visit after I seconds finds a changed page with probability
1 - e^(-rate I), however many changes there were; the rate is the maximum-likelihood estimate. Where a server reports
when a page changed last, that is one change at a known time and none since.

One page has few observations, so the prior of a page is the rate of its host, and that of a host the rate of the crawl,
as if one change had been observed in the average time between two changes.
"""

from __future__ import annotations

import email.utils
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from thresher.frontier.base import as_float32
from thresher.records import Candidate, RequestKind
from thresher.refresh.revisit import Validators
from thresher.storage.page_store import UNCHANGED, PageRecord
from thresher.storage.reader import PageStoreReader
from thresher.storage.visits import PageVisit, VisitHistory, visit_history
from thresher.strategies.base import Strategy
from thresher.urls.canonical import host_key

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


_YOUNGEST_SECONDS = 3600.0
"""A server that reports a change at this very moment generates the page for each request; its date is not trusted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisit:
    """A page to revisit.

    Args:
        gain: The probability that it has changed, times its relevance.
        per_day: Estimated changes per day.
        validators: For the conditional request.
    """

    record: PageRecord
    gain: float
    per_day: float
    validators: Validators


@dataclass(frozen=True, slots=True)
class _Page:
    record: PageRecord
    seen: VisitHistory
    validators: Validators
    observations: ChangeObservations


Gain = Callable[[PageRecord, float, float], float]
"""From a page, its rate of changes per second and the seconds since its last visit, to the value of a visit."""


def expected_gain(record: PageRecord, rate: float, seconds: float) -> float:
    """Return the probability that a page has changed, times its relevance."""
    return probability_of_change(rate, seconds) * record.relevance


def choose(
    collection: PageStoreReader,
    number: int,
    *,
    now: float,
    gain: Gain = expected_gain,
    allowed: Callable[[PageRecord], bool] = lambda record: True,
) -> list[Revisit]:
    """Choose the pages with the highest gain, best first.

    The collection is read twice: for the rates of hosts, then for pages. Memory grows with the number of hosts and with
    `number`. Duplicates, pages with relevance 0, and pages that were gone at their last visit are left out.

    Args:
        allowed: Whether a page may be fetched; the user's settings may have changed since its last fetch.
    """
    hosts: defaultdict[str, ChangeObservations] = defaultdict(ChangeObservations)
    everywhere = ChangeObservations()
    for page in _pages(collection):
        hosts[host_key(page.record.url)].add(page.observations)
        everywhere.add(page.observations)
    usual = everywhere.rate(USUAL_RATE)
    rates = {host: observations.rate(usual) for host, observations in hosts.items()}

    def visits() -> Iterator[tuple[float, float, Revisit]]:
        for page in filter(lambda page: allowed(page.record), _pages(collection)):
            rate = page.observations.rate(rates.get(host_key(page.record.url), usual))
            worth = gain(page.record, rate, now - page.seen.checked_at)
            revisit = Revisit(record=page.record, gain=worth, per_day=rate * 86_400, validators=page.validators)
            yield worth, -page.seen.checked_at, revisit

    best = heapq.nlargest(number, visits(), key=lambda visit: visit[:2])
    return [revisit for _, _, revisit in best]


def candidates(revisits: list[Revisit], strategy: Strategy) -> list[Candidate]:
    """Return the frontier entries: each page with its old depth and parent, and with what the strategy gives a seed."""
    seeds = {seed.url: seed for seed in strategy.seeds([revisit.record.url for revisit in revisits])}
    return [_candidate(revisit, seeds.get(revisit.record.url)) for revisit in revisits]


def _candidate(revisit: Revisit, seed: Candidate | None) -> Candidate:
    record = revisit.record
    return Candidate(
        url=record.url,
        score=as_float32(revisit.gain),
        breakdown={"changes per day": revisit.per_day, "relevance": record.relevance},
        strategy_data=revisit.validators.added_to(seed.strategy_data if seed else {}),
        depth_left=seed.depth_left if seed else 0,
        hops=record.depth,
        parent=record.parent,
        kind=RequestKind.at(record.depth),
    )


def _pages(collection: PageStoreReader) -> Iterator[_Page]:
    with closing(collection.repeats()) as repeats:
        for record in collection.ranked():
            if record.relevance <= 0:
                return  # pages are ranked by relevance
            several = repeats.has_several(record.fingerprint)
            history = collection.history(record.fingerprint) if several else [record]
            seen = visit_history(history)
            if not seen.gone:
                yield _Page(record, seen, _validators(record, history), _observations(history, seen))


def _validators(record: PageRecord, history: list[PageRecord]) -> Validators:
    """Return the validators of the last visit: a server may send a new ETag with the same text."""
    last = next((visit for visit in reversed(history) if visit.page or visit.reason == UNCHANGED), record)
    return Validators(
        text_hash=record.text_hash, relevant=record.relevant, etag=last.etag, last_modified=last.last_modified
    )


def _observations(history: list[PageRecord], seen: VisitHistory) -> ChangeObservations:
    observations = ChangeObservations()
    observations.add_visits(seen.visits)
    first = history[0]
    if (age := _age(first)) is not None:
        observations.add_age(max(age, _YOUNGEST_SECONDS))
    return observations


def _age(record: PageRecord) -> float | None:
    """Return how long before its fetch a page had changed, if the server reports a plausible time."""
    try:
        changed_at = email.utils.parsedate_to_datetime(record.last_modified).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return record.fetched_at - changed_at if 0 < changed_at <= record.fetched_at else None
