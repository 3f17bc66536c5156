"""What a plan's crawl shows about the promises: pure functions from what was observed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from testing.faulty_crawl.excuses import by_trouble
from testing.faulty_crawl.scenario import Observed, Plan
from testing.recording_server import report


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A crawl in numbers.

    Args:
        never_answered: Pages of the site that the recording server never gave to anybody.
        not_kept: Pages that were given, perhaps, but are not in the collection.
        kept_twice: Pages that are in the collection more than once.
        unexcused_refetches: Pages fetched again though nobody was killed in between and the first answer came in time.
        over_bound: Refetches of a kill beyond the requests that the killed workers may have had in flight.
        recovery_seconds: The longest time from a kill until a page that it cost was asked for again.
        gaps: How often a host was asked again.
        close_gaps: How many of them the delay decided: shorter than twice the delay.
    """

    pages: int
    seconds: float
    exit_code: int
    kills: int
    never_answered: int
    not_kept: int
    kept_twice: int
    refetches: int
    most_refetches_per_kill: int
    most_in_flight_at_kill: int
    unexcused_refetches: int
    over_bound: int
    recovery_seconds: float
    max_parallel: int
    gaps: int
    close_gaps: int
    shortest_gap_seconds: float
    violations: int

    @property
    def lost(self) -> int:
        """Pages that the crawl should have brought home and did not."""
        return max(self.never_answered, self.not_kept)


def figures(plan: Plan, observed: Observed) -> Figures:
    """Measure a crawl against the promises."""
    kept = [_key(url) for url in observed.kept_urls]
    keys = plan.site.keys()
    gaps = report.gaps(observed.hits)
    return Figures(
        pages=plan.site.pages,
        seconds=observed.seconds,
        exit_code=observed.exit_code,
        kills=len(observed.kills),
        never_answered=len(report.lost(keys, observed.hits)),
        not_kept=len(keys - set(kept)),
        kept_twice=len(kept) - len(set(kept)),
        max_parallel=max(report.max_parallel(observed.hits).values(), default=0),
        gaps=len(gaps),
        close_gaps=sum(gap.seconds < 2 * plan.delay_seconds for gap in gaps),
        shortest_gap_seconds=min((gap.seconds for gap in gaps), default=0.0),
        violations=len(report.violations(gaps, plan.delay_seconds)),
        **_refetch_figures(plan, observed),
    )


def _refetch_figures(plan: Plan, observed: Observed) -> dict[str, int | float]:
    kills = observed.kills
    found = [
        repeat
        for repeat in report.refetches(observed.hits, [kill.after_ns for kill in kills])
        if repeat.before.end_ns - repeat.before.start_ns <= plan.timeout_seconds * report.NANOSECONDS
    ]
    bounds = [kill.workers * plan.concurrency for kill in kills]
    by_kill = Counter(by_trouble(found, kills, bounds))
    return {
        "refetches": len(found),
        "most_refetches_per_kill": max((by_kill[number] for number in range(len(kills))), default=0),
        "most_in_flight_at_kill": max((report.in_flight(observed.hits, kill.before_ns) for kill in kills), default=0),
        "unexcused_refetches": by_kill[None],
        "over_bound": sum(max(0, by_kill[number] - bound) for number, bound in enumerate(bounds)),
        "recovery_seconds": _recovery_seconds(observed),
    }


def _recovery_seconds(observed: Observed) -> float:
    asked = [hit for hit in observed.hits if hit.path != report.ROBOTS_PATH]
    repeats = report.repeats(asked, [kill.after_ns for kill in observed.kills])
    waits = [
        repeat.after.start_ns - observed.kills[repeat.kill].after_ns for repeat in repeats if repeat.kill is not None
    ]
    return max(waits, default=0) / report.NANOSECONDS


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"
