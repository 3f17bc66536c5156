"""The rows of the table that killing fills: what is done, what must hold, how it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.faults.figures import Figures
from tests.faults.scenario import Plan
from tests.faults.table import Row
from tests.witness.site import Site


def nothing_lost(figures: Figures) -> bool:
    """Every page of the site was fetched and is in the collection once, and the run ended well."""
    return figures.exit_code == 0 and figures.lost == 0 and figures.kept_twice == 0


def refetches_bounded(figures: Figures) -> bool:
    """No page was fetched twice but by a kill, and for each killed worker at most as many as it may have in flight."""
    return figures.unexcused_refetches == 0 and figures.over_bound == 0


def polite(figures: Figures) -> bool:
    """No host had two requests open at once or was asked before its delay was over."""
    return figures.max_parallel == 1 and figures.violations == 0


def survived(figures: Figures) -> bool:
    """All of it."""
    return nothing_lost(figures) and refetches_bounded(figures) and polite(figures)


def losses(figures: Figures) -> str:
    """Return the figures about what was lost and repeated."""
    return (
        f"lost {figures.lost} of {figures.pages:,}; {figures.kills} kills; fetched twice {figures.refetches}, at most "
        f"{figures.most_refetches_per_kill} per kill, without a kill {figures.unexcused_refetches}; at most "
        f"{figures.most_in_flight_at_kill} requests open at a kill; recovery at most {figures.recovery_seconds:.1f} s; "
        f"open at once {figures.max_parallel}; {figures.seconds:.0f} s"
    )


def manners(figures: Figures) -> str:
    """Return the figures about politeness."""
    return (
        f"open at once {figures.max_parallel}; {figures.violations} violations in {figures.gaps:,} gaps "
        f"({figures.close_gaps:,} of them under twice the delay); shortest gap {figures.shortest_gap_seconds:.4f} s; "
        f"{figures.kills} kills; lost {figures.lost} of {figures.pages:,}; {figures.seconds:.0f} s"
    )


@dataclass(frozen=True, kw_only=True)
class KillRow:
    """A row to be filled by carrying out a plan."""

    name: str
    fault: str
    promise: str
    plan: Plan
    describe: Callable[[Figures], str]

    def fill(self, figures: Figures) -> Row:
        """Return the row with its figures."""
        return Row(
            name=self.name,
            fault=self.fault,
            promise=self.promise,
            figure=self.describe(figures),
            test="tests/faults/full.py",
            held=survived(figures),
        )


_POLITE_SITE = Site(pages=4000, hosts=200, skew=2.0)  # crowded hosts, so that the delay is what decides

ROWS = [
    KillRow(
        name="R1",
        fault="kill -9 of one of 4 workers, 20 times at random",
        promise="no URL lost; fetched twice at most 16 pages per kill, the requests a worker may have in flight",
        plan=Plan(site=Site(pages=20_000, hosts=200), worker_kills=20, max_seconds=1800.0),
        describe=losses,
    ),
    KillRow(
        name="R2",
        fault="kill -9 of the run and its 4 workers, 5 times, same command again",
        promise="the crawl ends with the URLs of an undisturbed one; fetched twice at most 16 pages per killed worker",
        plan=Plan(site=Site(pages=5000, hosts=100), total_kills=5, max_seconds=900.0),
        describe=losses,
    ),
    KillRow(
        name="P1",
        fault="none: 4 workers, 200 hosts, delay 0.2 s",
        promise="one open request per host, gap at least the delay",
        plan=Plan(site=_POLITE_SITE, delay_seconds=0.2, max_seconds=600.0),
        describe=manners,
    ),
    KillRow(
        name="P2",
        fault="P1 with 10 kills of a worker and 2 of everything",
        promise="one open request per host, gap at least the delay",
        plan=Plan(site=_POLITE_SITE, delay_seconds=0.2, worker_kills=10, total_kills=2, max_seconds=900.0),
        describe=manners,
    ),
]
