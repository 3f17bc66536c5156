"""The capacity plan: the bound by hosts and delay first, then workers, store, disk, bandwidth, days and cost.

`lines` and `row` give a plan as text, and as a row of a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from thresher.capacity.constants import CapacityConstants
from thresher.capacity.request import CapacityRequest
from thresher.capacity.store import GB, Store, StoreKind, choose_store

DAY_SECONDS = 86_400.0
MONTH_DAYS = 30.0


@dataclass(frozen=True, kw_only=True)
class CapacityPlan:
    """The resources and the duration of a crawl; the field names are also the keys of the JSON output.

    Args:
        request: The requested crawl.
        requested_pages_per_second: The rate that the requested days require.
        ceilings: Pages per second that hosts, line, workers and store each allow.
        limit: The name of the lowest ceiling.
        pages_per_second: The resulting rate.
        pages_of_one_host: The maximum of pages from a single host in these days.
        log_bytes_per_day: What the pages of a day add to the logs of a shared store between two rewrites.
        cost_per_month: Rough cost of cores, RAM, disk and traffic while the crawl runs.
        cost: The same for the whole crawl.
    """

    request: CapacityRequest
    requested_pages_per_second: float
    ceilings: dict[str, float]
    limit: str
    pages_per_second: float
    days: float
    pages_of_one_host: float
    workers: int
    worker_ram_bytes: float
    store: Store
    kept_bytes: float
    log_bytes_per_day: float
    line_mbit: float
    traffic_bytes: float
    cost_per_month: float
    cost: float


def make_plan(request: CapacityRequest, constants: CapacityConstants, *, workers: int | None = None) -> CapacityPlan:
    """Plan the crawl with as many workers as its days require, or with the given number."""
    hosts, line = host_ceiling(request), line_ceiling(request)
    required = request.pages / (request.days * DAY_SECONDS)
    count = workers or max(1, math.ceil(min(required, hosts, line) / constants.worker_pages_per_second))
    by_workers = count * constants.worker_pages_per_second
    store = choose_store(request, min(hosts, line, by_workers), count, constants)
    ceilings = {"hosts": hosts, "line": line, "workers": by_workers, "store": store.pages_per_second}
    limit = min(ceilings, key=ceilings.__getitem__)
    days = request.pages / ceilings[limit] / DAY_SECONDS
    plan = CapacityPlan(
        request=request,
        requested_pages_per_second=required,
        ceilings=ceilings,
        limit=limit,
        pages_per_second=ceilings[limit],
        days=days,
        pages_of_one_host=days * DAY_SECONDS / request.delay_seconds if request.delay_seconds else math.inf,
        workers=count,
        worker_ram_bytes=count * constants.worker_ram_bytes,
        store=store,
        kept_bytes=request.pages * request.page_kb * 1e3 * constants.kept_bytes_per_page_byte,
        log_bytes_per_day=ceilings[limit] * DAY_SECONDS * constants.store_log_bytes_per_cycle if store.nodes else 0.0,
        line_mbit=ceilings[limit] * request.page_kb * 8e3 / 1e6,
        traffic_bytes=request.pages * request.page_kb * 1e3,
        cost_per_month=0.0,
        cost=0.0,
    )
    monthly, traffic = standing_cost(plan), plan.traffic_bytes / GB * request.prices.traffic_gb
    months = days / MONTH_DAYS
    return replace(plan, cost_per_month=monthly + traffic / max(1.0, months), cost=monthly * months + traffic)


def host_ceiling(request: CapacityRequest) -> float:
    """Return the upper bound by politeness: ready hosts ÷ delay."""
    return request.hosts / request.delay_seconds if request.delay_seconds else math.inf


def line_ceiling(request: CapacityRequest) -> float:
    """Return the upper bound by bandwidth."""
    return request.line_mbit * 1e6 / (request.page_kb * 8e3) if request.line_mbit else math.inf


def standing_cost(plan: CapacityPlan) -> float:
    """Return what a month of the crawl costs without its traffic, all its disk from the first day on."""
    prices = plan.request.prices
    disk = (plan.kept_bytes + plan.store.disk_bytes) / GB * prices.disk_gb
    return plan.workers * prices.core + plan.store.ram_bytes / GB * prices.ram_gb + disk


def plan_growth(
    request: CapacityRequest, constants: CapacityConstants, *, workers: int | None = None
) -> list[CapacityPlan]:
    """Plan the same crawl from 10^4 to 10^9 pages, with constant pages per host and waiting URLs per page."""
    plans = []
    for power in range(4, 10):
        share = 10**power / request.pages
        waiting = None if request.waiting is None else round(request.waiting * share)
        grown = replace(request, pages=10**power, hosts=max(1, round(request.hosts * share)), waiting=waiting)
        plans.append(make_plan(grown, constants, workers=workers))
    return plans


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
            f"  A node restarts in {store.restart_seconds:,.0f} to {store.longest_restart_seconds:,.0f} s, by the "
            f"length of its log; the logs grow by {_size(plan.log_bytes_per_day)} a day until they are rewritten."
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
