"""Rows R1, R2, P1 and P2: crawls of a whole site during which processes are killed, or none."""

from __future__ import annotations

from collections.abc import Callable

from testing.faulty_crawl.scenario import Plan, observe
from testing.recording_server.site import Site
from tests.faults.figures import Figures, figures
from tests.faults.table import Outcome


def nothing_lost(measured: Figures) -> bool:
    """Every page of the site was fetched and is in the collection once, and the run ended well."""
    return measured.exit_code == 0 and measured.lost == 0 and measured.kept_twice == 0


def refetches_bounded(measured: Figures) -> bool:
    """No page was fetched twice but by a kill, and for each killed worker at most as many as it may have in flight."""
    return measured.unexcused_refetches == 0 and measured.over_bound == 0


def polite(measured: Figures) -> bool:
    """No host had two requests open at once or was asked before its delay was over."""
    return measured.max_parallel == 1 and measured.violations == 0


def survived(measured: Figures) -> bool:
    """All of it."""
    return nothing_lost(measured) and refetches_bounded(measured) and polite(measured)


def losses(measured: Figures) -> str:
    """Return the figures about what was lost and repeated."""
    return (
        f"lost {measured.lost} of {measured.pages:,}; {measured.kills} kills; fetched twice {measured.refetches}, "
        f"at most {measured.most_refetches_per_kill} per kill, without a kill {measured.unexcused_refetches}; "
        f"at most {measured.most_in_flight_at_kill} requests open at a kill; "
        f"recovery at most {measured.recovery_seconds:.1f} s; "
        f"open at once {measured.max_parallel}; {measured.seconds:.0f} s"
    )


def politeness(measured: Figures) -> str:
    """Return the figures about politeness."""
    return (
        f"open at once {measured.max_parallel}; {measured.violations} violations in {measured.gaps:,} gaps "
        f"({measured.close_gaps:,} of them under twice the delay); "
        f"shortest gap {measured.shortest_gap_seconds:.4f} s; "
        f"{measured.kills} kills; lost {measured.lost} of {measured.pages:,}; {measured.seconds:.0f} s"
    )


def r1() -> Outcome:
    """Kill one worker at a time."""
    plan = Plan(site=Site(pages=20_000, hosts=200), worker_kills=20, max_seconds=1800.0)
    return _outcome(plan, losses)


def r2() -> Outcome:
    """Kill the run and all its workers."""
    return _outcome(Plan(site=Site(pages=5000, hosts=100), total_kills=5, max_seconds=900.0), losses)


def p1() -> Outcome:
    """Kill nobody, and look at the politeness."""
    return _outcome(Plan(site=_POLITE_SITE, delay_seconds=0.2, max_seconds=600.0), politeness)


def p2() -> Outcome:
    """Look at the politeness while workers and the whole run are killed."""
    plan = Plan(site=_POLITE_SITE, delay_seconds=0.2, worker_kills=10, total_kills=2, max_seconds=900.0)
    return _outcome(plan, politeness)


_POLITE_SITE = Site(pages=4000, hosts=200, skew=2.0)  # crowded hosts, so that the delay is what decides


def _outcome(plan: Plan, describe: Callable[[Figures], str]) -> Outcome:
    measured = figures(plan, observe(plan))
    return Outcome(held=survived(measured), figure=describe(measured))
