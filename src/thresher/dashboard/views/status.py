"""The status of a crawl: its state and numbers, what limits its speed, and its limits."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Any

from thresher.coordination.last_run import RunEnd, last_run_end
from thresher.coordination.local_workers import read_workers
from thresher.coordination.run_control import RunControl, initial_limits, read_run_control
from thresher.coordination.stop_orders import OrderSnapshot
from thresher.dashboard.open_crawl import OpenCrawl
from thresher.feedback.forecast import read_forecast
from thresher.feedback.labels import Label, verdicts
from thresher.feedback.topic_counts import TopicStatus, read_topics
from thresher.frontier.base import Counts
from thresher.monitoring.failures import FailureReport, failure_report
from thresher.monitoring.totals import with_tally
from thresher.runner.limits import HARVEST_PAGES

_SPEED_SECONDS = 5.0
_FAILURES_SECONDS = 3.0
_TOPICS_SECONDS = 3.0


async def status(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return the status of a crawl."""
    counts, run_control, orders = await asyncio.gather(
        open_crawl.frontier_reader.counts(), read_run_control(open_crawl.frontier_reader), open_crawl.orders()
    )
    pages, busy = await open_crawl.pages(), await _busy(open_crawl)
    if not open_crawl.crawl.is_shared:  # the frontier counts first verdicts, the page store current ones
        counts = with_tally(counts, pages.tally)
    state, forecast = (
        await _state(open_crawl, busy, run_control),
        await read_forecast(open_crawl.frontier_reader, counts),
    )
    open_crawl.pace.add_sample(time.monotonic(), counts)
    is_running = state != "stopped"
    limits = open_crawl.crawl.config.stop.model_dump()
    if is_running:
        limits |= {**(await initial_limits(open_crawl.frontier_reader)).limits(), **run_control.limits()}
    used = {
        "pages": counts.pages,
        "relevant": counts.relevant,
        "minutes": _minutes(open_crawl, orders) if is_running else 0.0,
        "harvest_below": open_crawl.pace.harvest() if open_crawl.crawl.is_shared else pages.harvest(HARVEST_PAGES),
    }
    return {
        **_description(open_crawl),
        "state": state,
        "counts": asdict(counts),
        "harvest_rate": counts.harvest_rate,
        "provisional": counts.is_provisional,
        "pages_per_second": _speed(open_crawl, pages.since(time.time() - _SPEED_SECONDS)) if is_running else 0.0,
        "limit": _limit(counts, state, busy),
        "budgets": {name: {"limit": limits.get(name), "used": used[name]} for name in used},
        "forecast": asdict(forecast) if forecast else None,
        "topics": [_topic(topic) for topic in await _topics(open_crawl, counts)],
        "labels": _label_counts(await open_crawl.labels()),
        "ended": _ended(
            await last_run_end(open_crawl.frontier_reader, is_running=is_running or open_crawl.crawl.is_shared)
        ),
        **await _failures(open_crawl),
        "can": _can(open_crawl, state),
    }


async def _failures(open_crawl: OpenCrawl) -> dict[str, Any]:
    """Return why URLs failed and which gave block pages, cached: with many failures this is the slowest query."""
    report: FailureReport = await open_crawl.cache.get(
        "failures", lambda: failure_report(open_crawl.frontier_reader), seconds=_FAILURES_SECONDS
    )
    return {"blocked": report.blocked, "failures": report.as_json()}


async def _topics(open_crawl: OpenCrawl, counts: Counts) -> list[TopicStatus]:
    """Return the status of each topic of a crawl of several, from the cache: the whole page store is counted."""
    crawl = open_crawl.crawl
    if not crawl.topic_names:
        return []
    topics: list[TopicStatus] = await open_crawl.cache.get(
        "topics",
        lambda: read_topics(open_crawl.frontier_reader, counts, crawl.topic_pages, crawl.counted_pages),
        seconds=_TOPICS_SECONDS,
    )
    return topics


def _topic(topic: TopicStatus) -> dict[str, Any]:
    return {**asdict(topic), "complete": topic.is_complete}


def _ended(ended: RunEnd | None) -> dict[str, Any] | None:
    return asdict(ended) if ended else None


def _description(open_crawl: OpenCrawl) -> dict[str, Any]:
    config = open_crawl.crawl.config
    return {
        "name": open_crawl.name,
        "title": dict(config.title),
        "strategy": config.strategy.name,
        "judge": config.judge.name,
        "shared": open_crawl.crawl.is_shared,
        "collection": asdict(open_crawl.collection) if open_crawl.collection else None,
    }


async def _busy(open_crawl: OpenCrawl) -> int:
    """Count the active workers, on this machine or on all that share the crawl."""
    if open_crawl.crawl.is_shared:
        return sum(not worker.is_silent for worker in await open_crawl.workers())
    return len(await read_workers(open_crawl.frontier_reader))


def _label_counts(labels: list[Label]) -> dict[str, int]:
    given = list(verdicts(labels).values())
    return {"yes": given.count(True), "no": given.count(False)}


async def _state(open_crawl: OpenCrawl, busy: int, run_control: RunControl) -> str:
    is_run_elsewhere = open_crawl.crawl.is_shared and busy
    if not is_run_elsewhere and not await asyncio.to_thread(open_crawl.crawl.folder.runner):
        return "stopped"
    return "paused" if run_control.paused else "running"


def _minutes(open_crawl: OpenCrawl, orders: OrderSnapshot) -> float:
    """Return the minutes since the run began; on one machine, since its lock was written."""
    if open_crawl.crawl.is_shared:
        return orders.seconds / 60
    try:
        return (time.time() - (open_crawl.crawl.folder.root / ".lock").stat().st_mtime) / 60
    except OSError:
        return 0.0


def _speed(open_crawl: OpenCrawl, recent_pages: int) -> float:
    """Return the pages per second of the last seconds; without two samples, from the fetch times of the pages."""
    samples = open_crawl.pace.samples
    if len(samples) > 1 and samples[-1][0] - samples[-2][0] < _SPEED_SECONDS:
        return open_crawl.pace.pages_per_second(over=_SPEED_SECONDS)
    return recent_pages / _SPEED_SECONDS


def _limit(counts: Counts, state: str, workers: int) -> dict[str, Any]:
    """Return what limits the speed now: a code, and a number that belongs to it."""
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


def _can(open_crawl: OpenCrawl, state: str) -> list[str]:
    if state == "stopped":
        return ["start"] if open_crawl.is_startable else []
    return ["resume" if state == "paused" else "pause", "stop", "budgets"]
