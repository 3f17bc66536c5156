"""A crawl in numbers: how it stands, what limits it, and when it ends."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Any

from thresher.crew import crew
from thresher.dashboard.watched import WatchedCrawl
from thresher.ended import Ended, last_ended
from thresher.engine.progress import HARVEST_PAGES
from thresher.failures import FailureReport, failure_report
from thresher.fleet.orders import Orders
from thresher.frontier.base import Counts
from thresher.labels import Label, verdicts
from thresher.outlook import look_ahead
from thresher.totals import with_tally
from thresher.wishes import Wishes, begun_with, read_wishes

_SPEED_SECONDS = 5.0
_FAILURES_SECONDS = 3.0


async def status(watched: WatchedCrawl) -> dict[str, Any]:
    """Return a crawl in numbers."""
    counts, wishes, orders = await asyncio.gather(
        watched.look.counts(), read_wishes(watched.frontier), watched.orders()
    )
    pages, busy = await watched.pages(), await _busy(watched)
    if not watched.crawl.is_shared:  # the frontier counted them as they were judged first
        counts = with_tally(counts, pages.tally)
    state, forecast = await _state(watched, busy, wishes), await look_ahead(watched.frontier, counts)
    watched.pace.note(time.monotonic(), counts)
    is_running = state != "stopped"
    limits = watched.crawl.config.stop.model_dump()
    if is_running:
        limits |= {**(await begun_with(watched.frontier)).limits(), **wishes.limits()}
    used = {
        "pages": counts.pages,
        "relevant": counts.relevant,
        "minutes": _minutes(watched, orders) if is_running else 0.0,
        "harvest_below": watched.pace.harvest() if watched.crawl.is_shared else pages.harvest(HARVEST_PAGES),
    }
    return {
        **_description(watched),
        "state": state,
        "counts": asdict(counts),
        "harvest_rate": counts.harvest_rate,
        "provisional": counts.is_provisional,
        "pages_per_second": _speed(watched, pages.since(time.time() - _SPEED_SECONDS)) if is_running else 0.0,
        "limit": _limit(counts, state, busy),
        "budgets": {name: {"limit": limits.get(name), "used": used[name]} for name in used},
        "forecast": asdict(forecast) if forecast else None,
        "labels": _told(await watched.labels()),
        "ended": _ended(await last_ended(watched.frontier, is_running=is_running or watched.crawl.is_shared)),
        "failures": (await _failures(watched)).as_json(),
        "can": _can(watched, state),
    }


async def _failures(watched: WatchedCrawl) -> FailureReport:
    """Return why URLs failed, as of a moment ago: with many failures the question takes longer than the others."""
    report: FailureReport = await watched.fresh.get(
        "failures", lambda: failure_report(watched.look), seconds=_FAILURES_SECONDS
    )
    return report


def _ended(ended: Ended | None) -> dict[str, Any] | None:
    return asdict(ended) if ended else None


def _description(watched: WatchedCrawl) -> dict[str, Any]:
    config = watched.crawl.config
    return {
        "name": watched.name,
        "title": dict(config.title),
        "strategy": config.strategy.name,
        "judge": config.judge.name,
        "shared": watched.crawl.is_shared,
    }


async def _busy(watched: WatchedCrawl) -> int:
    """Count who is at work, on this machine or on all that share the crawl."""
    if watched.crawl.is_shared:
        return sum(not worker.is_silent for worker in await watched.workers())
    return len(await crew(watched.frontier))


def _told(labels: list[Label]) -> dict[str, int]:
    told = list(verdicts(labels).values())
    return {"yes": told.count(True), "no": told.count(False)}


async def _state(watched: WatchedCrawl, busy: int, wishes: Wishes) -> str:
    is_run_elsewhere = watched.crawl.is_shared and busy
    if not is_run_elsewhere and not await asyncio.to_thread(watched.crawl.folder.runner):
        return "stopped"
    return "paused" if wishes.paused else "running"


def _minutes(watched: WatchedCrawl, orders: Orders) -> float:
    """Return for how long a run lasts; on one machine, the lock is written when it begins."""
    if watched.crawl.is_shared:
        return orders.seconds / 60
    try:
        return (time.time() - (watched.crawl.folder.root / ".lock").stat().st_mtime) / 60
    except OSError:
        return 0.0


def _speed(watched: WatchedCrawl, pages_of_late: int) -> float:
    """Return the pages per second of the last seconds; at the first look, by the times of the pages themselves."""
    samples = watched.pace.samples
    if len(samples) > 1 and samples[-1][0] - samples[-2][0] < _SPEED_SECONDS:
        return watched.pace.pages_per_second(over=_SPEED_SECONDS)
    return pages_of_late / _SPEED_SECONDS


def _limit(counts: Counts, state: str, workers: int) -> dict[str, Any]:
    """Say what limits the speed right now: a word, and a number that belongs to it."""
    if state != "running":
        return {"code": state, "number": 0}
    if not counts.pages and not counts.leased and counts.ready:
        return {"code": "starting", "number": 0}
    if counts.ready:
        return {"code": "busy", "number": max(1, workers)}
    if counts.delayed:
        return {"code": "delay", "number": counts.delayed}
    if counts.leased:
        return {"code": "answers", "number": counts.leased}
    return {"code": "parked", "number": counts.parked} if counts.parked else {"code": "nothing", "number": 0}


def _can(watched: WatchedCrawl, state: str) -> list[str]:
    if state == "stopped":
        return ["start"] if watched.is_startable else []
    return ["resume" if state == "paused" else "pause", "stop", "budgets"]
