"""Which pages are visited again, and in what order: by how likely they have changed, times how relevant they are."""

from __future__ import annotations

import email.utils
import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

from thresher.archive.collection import Collection
from thresher.archive.pages import UNCHANGED, PageRecord
from thresher.archive.visits import Known, known
from thresher.frontier.scores import short
from thresher.records import Candidate
from thresher.refresh.rates import USUAL_RATE, Sightings, probability_of_change
from thresher.refresh.told import Told
from thresher.strategies.base import Strategy
from thresher.urls.host import host_key

_YOUNGEST_SECONDS = 3600.0
"""A server that says that a page changed this very moment writes it anew for everybody; it is not taken at its word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisit:
    """A page that is worth another look.

    Args:
        gain: How likely it has changed, times how relevant it is.
        per_day: How often it is thought to change.
        told: What the visit must know.
    """

    record: PageRecord
    gain: float
    per_day: float
    told: Told


@dataclass(frozen=True, slots=True)
class _Page:
    record: PageRecord
    seen: Known
    told: Told
    sightings: Sightings


Gain = Callable[[PageRecord, float, float], float]
"""From a page, its rate of changes per second and the seconds since it was looked at, to what a visit is worth."""


def expected_gain(record: PageRecord, rate: float, seconds: float) -> float:
    """Return how likely a page has changed, times how relevant it is."""
    return probability_of_change(rate, seconds) * record.relevance


def choose(
    collection: Collection,
    number: int,
    *,
    now: float,
    gain: Gain = expected_gain,
    allowed: Callable[[PageRecord], bool] = lambda record: True,
) -> list[Revisit]:
    """Choose the pages that are most worth a visit, best first.

    The collection is read twice: for the rates of hosts, then for pages. Memory grows with the hosts and with
    `number`. Copies, pages without any relevance, and pages that were gone at their last visit are left out.

    Args:
        allowed: Tells whether a page may be asked for; what the user allows may have changed since it was fetched.
    """
    hosts: defaultdict[str, Sightings] = defaultdict(Sightings)
    everywhere = Sightings()
    for page in _pages(collection):
        hosts[host_key(page.record.url)].add(page.sightings)
        everywhere.add(page.sightings)
    usual = everywhere.rate(USUAL_RATE)
    rates = {host: sightings.rate(usual) for host, sightings in hosts.items()}

    def visits() -> Iterator[tuple[float, float, Revisit]]:
        for page in filter(lambda page: allowed(page.record), _pages(collection)):
            rate = page.sightings.rate(rates.get(host_key(page.record.url), usual))
            worth = gain(page.record, rate, now - page.seen.checked_at)
            revisit = Revisit(record=page.record, gain=worth, per_day=rate * 86_400, told=page.told)
            yield worth, -page.seen.checked_at, revisit

    best = heapq.nlargest(number, visits(), key=lambda visit: visit[:2])
    return [revisit for _, _, revisit in best]


def candidates(revisits: list[Revisit], strategy: Strategy) -> list[Candidate]:
    """Make the entries of the queue: each page at its old place in the crawl, with what the strategy gives a seed."""
    seeds = {seed.url: seed for seed in strategy.seeds([revisit.record.url for revisit in revisits])}
    return [_candidate(revisit, seeds.get(revisit.record.url)) for revisit in revisits]


def _candidate(revisit: Revisit, seed: Candidate | None) -> Candidate:
    record = revisit.record
    return Candidate(
        url=record.url,
        score=short(revisit.gain),
        parts={"changes per day": revisit.per_day, "relevance": record.relevance},
        carry=revisit.told.carried(seed.carry if seed else {}),
        depth_left=seed.depth_left if seed else 0,
        hops=record.depth,
        parent=record.parent,
    )


def _pages(collection: Collection) -> Iterator[_Page]:
    with closing(collection.repeats()) as repeats:
        for record in collection.ranked():
            if record.relevance <= 0:
                return  # the rest has none either
            several = repeats.has_several(record.fingerprint)
            history = collection.history(record.fingerprint) if several else [record]
            seen = known(history)
            if not seen.gone:
                yield _Page(record, seen, _told(record, history), _sightings(history, seen))


def _told(record: PageRecord, history: list[PageRecord]) -> Told:
    """Tell a visit what the last one learned: a server may give the same text a new name."""
    last = next((visit for visit in reversed(history) if visit.page or visit.reason == UNCHANGED), record)
    return Told(text_hash=record.text_hash, relevant=record.relevant, etag=last.etag, last_modified=last.last_modified)


def _sightings(history: list[PageRecord], seen: Known) -> Sightings:
    sightings = Sightings()
    sightings.take(seen.visits)
    first = history[0]
    if (age := _age(first)) is not None:
        sightings.take_age(max(age, _YOUNGEST_SECONDS))
    return sightings


def _age(record: PageRecord) -> float | None:
    """Return how long before it was fetched a page had changed, where the server says so and it can be true."""
    try:
        changed_at = email.utils.parsedate_to_datetime(record.last_modified).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return record.fetched_at - changed_at if 0 < changed_at <= record.fetched_at else None
