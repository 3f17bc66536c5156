"""From a wish to machines: the law of hosts and delay first, then workers, store, disk, line, days and money."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from thresher.plan.constants import Constants
from thresher.plan.store import GB, Store, choose_store
from thresher.plan.wish import Wish

DAY_SECONDS = 86_400.0
MONTH_DAYS = 30.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a crawl needs, and how long it takes.

    Args:
        wished_pages_per_second: What the wished days ask for.
        ceilings: Pages per second that hosts, line, workers and store each allow.
        limit: The lowest of these ceilings.
        pages_per_second: What comes out.
        pages_of_one_host: The most that a single host can give in these days.
        log_bytes_per_day: What the pages of a day add to the logs of a shared store between two rewrites.
        cost_per_month: Rough; cores, RAM, disk and traffic while the crawl runs.
        cost: The same for the days that it runs.
    """

    wish: Wish
    wished_pages_per_second: float
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


def make_plan(wish: Wish, constants: Constants, *, workers: int | None = None) -> Plan:
    """Plan the crawl with as many workers as its days ask for, or with the given number."""
    hosts, line = host_ceiling(wish), line_ceiling(wish)
    wished = wish.pages / (wish.days * DAY_SECONDS)
    count = workers or max(1, math.ceil(min(wished, hosts, line) / constants.worker_pages_per_second))
    by_workers = count * constants.worker_pages_per_second
    store = choose_store(wish, min(hosts, line, by_workers), count, constants)
    ceilings = {"hosts": hosts, "line": line, "workers": by_workers, "store": store.pages_per_second}
    limit = min(ceilings, key=ceilings.__getitem__)
    days = wish.pages / ceilings[limit] / DAY_SECONDS
    plan = Plan(
        wish=wish,
        wished_pages_per_second=wished,
        ceilings=ceilings,
        limit=limit,
        pages_per_second=ceilings[limit],
        days=days,
        pages_of_one_host=days * DAY_SECONDS / wish.delay_seconds if wish.delay_seconds else math.inf,
        workers=count,
        worker_ram_bytes=count * constants.worker_ram_bytes,
        store=store,
        kept_bytes=wish.pages * wish.page_kb * 1e3 * constants.kept_bytes_per_page_byte,
        log_bytes_per_day=ceilings[limit] * DAY_SECONDS * constants.store_log_bytes_per_cycle if store.nodes else 0.0,
        line_mbit=ceilings[limit] * wish.page_kb * 8e3 / 1e6,
        traffic_bytes=wish.pages * wish.page_kb * 1e3,
        cost_per_month=0.0,
        cost=0.0,
    )
    standing, traffic = standing_cost(plan), plan.traffic_bytes / GB * wish.prices.traffic_gb
    months = days / MONTH_DAYS
    return replace(plan, cost_per_month=standing + traffic / max(1.0, months), cost=standing * months + traffic)


def host_ceiling(wish: Wish) -> float:
    """Return the law: no more pages per second than ready hosts ÷ delay."""
    return wish.hosts / wish.delay_seconds if wish.delay_seconds else math.inf


def line_ceiling(wish: Wish) -> float:
    """Return how many pages per second the connection carries."""
    return wish.line_mbit * 1e6 / (wish.page_kb * 8e3) if wish.line_mbit else math.inf


def standing_cost(plan: Plan) -> float:
    """Return what a month of the crawl costs without its traffic, all its disk from the first day on."""
    prices = plan.wish.prices
    disk = (plan.kept_bytes + plan.store.disk_bytes) / GB * prices.disk_gb
    return plan.workers * prices.core + plan.store.ram_bytes / GB * prices.ram_gb + disk


def plan_growth(wish: Wish, constants: Constants, *, workers: int | None = None) -> list[Plan]:
    """Plan the same crawl from 10^4 to 10^9 pages, with as many pages per host and as many waiting URLs per page."""
    plans = []
    for power in range(4, 10):
        share = 10**power / wish.pages
        waiting = None if wish.waiting is None else round(wish.waiting * share)
        grown = replace(wish, pages=10**power, hosts=max(1, round(wish.hosts * share)), waiting=waiting)
        plans.append(make_plan(grown, constants, workers=workers))
    return plans
