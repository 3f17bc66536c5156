"""A capacity plan as text, and as a row of a table."""

from __future__ import annotations

import math
from collections.abc import Iterator

from thresher.capacity.plan import CapacityPlan
from thresher.capacity.store import GB, StoreKind

_REMEDIES = {
    "hosts": "more hosts or a shorter delay",
    "line": "a larger --line-mbit",
    "workers": "more workers",
    "store": "more store nodes",
}
"""What would raise each limit."""


def lines(plan: CapacityPlan) -> Iterator[str]:
    """Yield the lines of the plan, the bound by hosts and delay first."""
    request, store = plan.request, plan.store
    bound = f"{request.hosts:,} ÷ {request.delay_seconds:g} s = {_rate(plan.ceilings['hosts'])}"
    yield f"Upper bound: pages per second ≤ ready hosts ÷ delay = {bound}."
    required = _rate(plan.requested_pages_per_second)
    yield f"Requested: {request.pages:,} pages in {request.days:g} days, {required} pages per second."
    is_met = plan.pages_per_second >= plan.requested_pages_per_second
    verdict, effect = ("The request is met", "be faster") if is_met else ("The request is not met", "help")
    yield f"Limit: the {plan.limit}. {verdict}; {_REMEDIES[plan.limit]} would {effect}."
    yield f"Speed: {_rate(plan.pages_per_second)} pages per second, so {_time(plan.days)} in all."
    if plan.pages_of_one_host < math.inf:
        yield f"One host can give {plan.pages_of_one_host:,.0f} pages in that time; a larger one is not done by then."
    yield f"Workers: {plan.workers:,} (a core each), {_size(plan.worker_ram_bytes)} of RAM."
    yield f"URLs: {request.seen_at_end:,} known at the end, {request.waiting_at_end:,} of them waiting."
    yield f"Store: {store.kind}."
    if store.kind is not StoreKind.SQLITE:
        yield (
            f"  {store.nodes:,} server processes (RAM requires {store.nodes_for_ram:,}, speed requires "
            f"{store.nodes_for_speed:,}) and {request.replicas} replicas of each; {_size(store.data_bytes)} of data, "
            f"{_size(store.ram_bytes)} of RAM."
        )
        yield (
            f"  A node restarts in about {store.restart_seconds:,.0f} s; the logs grow by "
            f"{_size(plan.log_bytes_per_day)} a day until they are rewritten."
        )
    if store.cold_urls:
        yield f"  Cold storage: {store.cold_urls:,.0f} of the waiting URLs, {_size(store.cold_bytes)}."
    if store.nodes > max(1, store.nodes_for_speed) and not request.tiered:
        per_host = request.waiting_at_end // request.hosts
        yield (
            f"  RAM sets the number of nodes: a cold storage (--tiered), or a --waiting-per-host below {per_host:,}, "
            "the average, would help."
        )
    yield f"Disk: {_size(plan.kept_bytes)} of pages, {_size(store.disk_bytes)} for the store."
    yield f"Line: {plan.line_mbit:,.1f} Mbit/s, {_size(plan.traffic_bytes)} in all."
    yield f"Cost, rough: {plan.cost_per_month:,.0f} a month, {plan.cost:,.0f} for the whole crawl."


COLUMNS = [
    "pages",
    "hosts",
    "pages/s",
    "limit",
    "takes",
    "workers",
    "store nodes",
    "store RAM",
    "disk",
    "Mbit/s",
    "cost",
]


def row(plan: CapacityPlan) -> list[str]:
    """Return the plan as a row with the columns `COLUMNS`."""
    return [
        f"{plan.request.pages:,}",
        f"{plan.request.hosts:,}",
        _rate(plan.pages_per_second),
        plan.limit,
        _time(plan.days),
        f"{plan.workers:,}",
        f"{plan.store.nodes:,}" if plan.store.nodes else "SQLite",
        _size(plan.store.ram_bytes),
        _size(plan.kept_bytes + plan.store.disk_bytes),
        f"{plan.line_mbit:,.1f}",
        f"{plan.cost:,.0f}",
    ]


def _rate(pages_per_second: float) -> str:
    if pages_per_second == math.inf:
        return "no limit"
    return f"{pages_per_second:,.0f}" if pages_per_second >= 100 else f"{pages_per_second:.3g}"


def _time(days: float) -> str:
    if days >= 2:
        return f"{days:,.1f} days"
    return f"{days * 24:.1f} hours" if days * 24 >= 2 else f"{days * 1440:.1f} minutes"


def _size(count: float) -> str:
    for unit, size in (("TB", 1000 * GB), ("GB", GB), ("MB", 1e6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 1e3:,.0f} KB"
