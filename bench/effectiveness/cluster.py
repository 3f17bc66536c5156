"""A simulated cluster: many workers over a generated web of many hosts, on a virtual clock, until nothing is left.

Workers die and are born again, and some answer only after their lease has ended. What happened is held against what a
frontier promises: no host is asked twice at a time or before its delay is over, the best URL goes first, none is lost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from thresher.cli.output import echo_table
from thresher.frontier.base import CrawlStore, UrlEntry, UrlState
from thresher.judges.base import Judge
from thresher.judges.cosine import CosineJudge
from thresher.reasons.reason import ReasonKind
from thresher.strategies.base import Strategy
from thresher.strategies.best_first import BestFirst
from thresher.topics.profile import TopicProfile
from thresher.topics.topic import TopicDefinition
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.simulator import VirtualClock
from thresher_lab.simulation.virtual_workers import Fleet, FleetPlan, PolitenessAudit
from thresher_lab.webs.generator import GeneratedWeb, generate
from thresher_lab.webs.parsed_pages import ParsedPages

PHRASE = "astronomy telescope galaxy planet star orbit; 天文 望远镜 星系 行星 恒星"
SEED = 11
START = 1_000_000.0
"""What the virtual clock begins at: some time after the epoch, as in life."""
CRAWL = "fleet"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a cluster did.

    Args:
        reachable: Pages that can be reached from the seeds.
        missing: Those of them that are not done.
        given_up: Those of them that were given up because their workers died with them too often.
        fetched: Fetches, dead links and pages that came twice included.
        twice: Pages that were fetched again, because a lease had ended.
        seconds: Of real time.
    """

    plan: FleetPlan
    audit: PolitenessAudit
    hosts: int
    reachable: int
    missing: int
    given_up: int
    left: int
    fetched: int
    twice: int
    deaths: int
    virtual_seconds: float
    seconds: float

    @property
    def pages_per_second(self) -> float:
        """How fast it was, by the virtual clock."""
        return self.fetched / self.virtual_seconds

    @property
    def polite_pages_per_second(self) -> float:
        """How fast it could have been: every host with something to fetch asked as often as its delay allows."""
        return self.audit.mean_busy_hosts() / (self.plan.delay_seconds + self.plan.fetch_seconds)


def cluster_plan(workers: int, *, slots: int = 8, deaths: bool = True) -> FleetPlan:
    """Say how a cluster works: five seconds between requests, workers that live for two minutes."""
    return FleetPlan(
        workers=workers,
        slots=slots,
        fetch_seconds=0.5,
        delay_seconds=5.0,
        lease_seconds=30.0,
        life_seconds=120.0 if deaths else math.inf,
        rest_seconds=5.0,
        stalls=0.002 if deaths else 0.0,
        seed=SEED,
    )


async def run_cluster(
    workers: int,
    hosts: int,
    pages: int,
    *,
    store: str | None = None,
    plan: FleetPlan | None = None,
    look_seconds: float = 0.5,
) -> Report:
    """Crawl a generated web until nothing is left, and hold it against the promises."""
    plan = plan or cluster_plan(workers)
    web = generate(SEED, pages=pages, hosts=hosts, traps=0.0, page_bytes=1500, links_per_page=12)
    clock = VirtualClock()
    audit = PolitenessAudit(delay_seconds=plan.delay_seconds, workers=workers, look_seconds=look_seconds)
    clock.now = START
    open_frontier = opener(store, clock, plan)
    parts = {"open_frontier": open_frontier, "clock": clock, "make_parts": make_parts, "audit": audit}
    fleet = Fleet(web, ParsedPages(web, keep=False), plan, **parts)
    seeds = Random(SEED).sample(range(len(web)), max(1, hosts // 20))
    frontier, reached, started = open_frontier(), reachable(web, seeds), time.monotonic()
    try:
        crawl = await fleet.run([web.url_of(seed) for seed in seeds], budget=20 * pages)
        seconds = time.monotonic() - started
        states = [await frontier.find(web.url_of(page)) for page in reached]
        counts = await frontier.counts()
    finally:
        await fleet.close()
        await frontier.close()
    return Report(
        plan=plan,
        audit=audit,
        hosts=hosts,
        reachable=len(reached),
        left=counts.waiting + counts.leased,
        fetched=len(crawl.fetches),
        twice=len(crawl.fetches) - len({fetch.url for fetch in crawl.fetches}),
        deaths=crawl.deaths,
        virtual_seconds=crawl.virtual_seconds - START,
        seconds=seconds,
        **_losses(states),
    )


def _losses(states: Sequence[UrlEntry | None]) -> dict[str, int]:
    """Count the pages that were not brought home, and those among them that were given up with their workers."""
    lost = [state for state in states if state is None or state.state is not UrlState.DONE]
    given_up = sum(state is not None and state.reason.kind is ReasonKind.WORKER_LOST for state in lost)
    return {"missing": len(lost), "given_up": given_up}


def make_parts() -> tuple[Judge, Strategy]:
    """Make a judge that gives many different scores, and learns nothing: here the queue is looked at."""
    return CosineJudge(TopicProfile(vectors=TopicDefinition.from_phrase(PHRASE).vectors())), BestFirst()


def opener(store: str | None, clock: VirtualClock, plan: FleetPlan) -> Callable[[], CrawlStore]:
    """Make what opens the queue for one worker: the one in memory, or a connection of its own to a store."""
    settings = {"merge": BestFirst.merge, "delay_seconds": plan.delay_seconds, "waiting_per_host": 1_000_000}
    if store is None:
        frontier = MemoryFrontier(clock=clock, **settings)
        return lambda: frontier
    from thresher.frontier.redis.frontier import RedisFrontier

    return lambda: RedisFrontier(store, CRAWL, clock=clock, **settings)


def reachable(web: GeneratedWeb, seeds: Sequence[int]) -> list[int]:
    """Give all pages that can be reached."""
    found, waiting = set(seeds), list(seeds)
    while waiting:
        new = [page for page in web.links_from(waiting.pop()) if page not in found]
        found.update(new)
        waiting += new
    return sorted(found)


def show_cluster(report: Report) -> None:
    audit, plan = report.audit, report.plan
    rows = [
        ["workers × pages at a time", f"{plan.workers} × {plan.slots}"],
        ["hosts, pages that can be reached", f"{report.hosts:,}, {report.reachable:,}"],
        ["fetches (dead links included)", f"{report.fetched:,}"],
        ["workers died, leases ran out", f"{report.deaths}, {audit.expired}"],
        ["pages fetched again after that", f"{report.twice}"],
        ["pages missing, of them given up after 5 tries", f"{report.missing}, {report.given_up}"],
        ["left in the queue", f"{report.left}"],
        ["leases while the host had one open", f"{audit.crowded}"],
        [f"leases before {plan.delay_seconds:g} s were over", f"{audit.hasty} (least gap {audit.least_gap:.3f} s)"],
        ["leases looked at", f"{audit.looked:,}"],
        ["of them the best at that time", f"{100 * audit.best / audit.looked:.1f} %"],
        [f"of them among the {plan.workers} best", f"{100 * audit.near_best / audit.looked:.1f} %"],
        ["fetches per virtual second", f"{report.pages_per_second:.0f}"],
        ["hosts with something to fetch / (delay + fetch)", f"{report.polite_pages_per_second:.0f}"],
        ["workers × slots / fetch", f"{plan.workers * plan.slots / plan.fetch_seconds:.0f}"],
        ["virtual seconds, real seconds", f"{report.virtual_seconds:.0f}, {report.seconds:.0f}"],
    ]
    echo_table(["what", "figure"], rows)
