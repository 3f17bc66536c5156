"""Do four workers learn as well as one, and does a cluster of 64 keep its promises?

``python -m bench.effectiveness.fleet``.

Learning (needs THRESHER_WEBS): the same number of fetches on the same topics by one worker that fetches four pages at a
time, by four workers that read each other's state stores, and by four that do not; share of the oracle's area, and
average precision of the judges at the end. Rows are added to bench/results/fleet.jsonl as they come; what is there is
not run again. ``--cluster`` runs 64 workers over a generated web of thousands of hosts until nothing is left, with
workers that die and others that answer too late, and holds what happened against what a frontier promises; ``--store
URL`` puts another frontier in the place of the one in memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from sklearn.metrics import average_precision_score

from thresher import registry
from thresher.cli.output import echo_table
from thresher.judges.base import Judge
from thresher.strategies.base import Strategy
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.simulator import VirtualClock
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.simulation.virtual_workers import Fleet, FleetPlan
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Interval, Score, bootstrap_difference, compare_paired

RESULTS = Path(__file__).parents[1] / "results" / "fleet.jsonl"
WEBS = {"wikispeedia": 10, "w3school_zh": 10}
"""How many of the topics are used, in the order of the draw."""
STRATEGIES = ("best-first", "fcmrps", "learning-anchor", "infospiders")
JUDGE, PAGES, SLOTS = "adaptive", 300, 4
ONE, TOGETHER, ALONE = "1 worker", "4 workers together", "4 workers alone"
FLEETS = {
    ONE: FleetPlan(workers=1, slots=SLOTS),
    TOGETHER: FleetPlan(workers=SLOTS),
    ALONE: FleetPlan(workers=SLOTS, shared=False),
}
"""As many pages are under way in each of them; what differs is who learns from which."""
PANEL = 150
"""Pages of the topic, and pages off it that stand for all of them, by which judges are measured."""

Row = dict[str, Any]


def run_one(bench: TaskRunner, task: Task, name: str) -> Row:
    """Let one fleet crawl one topic."""
    seeds, targets = bench.seeds(task), bench.web.targets(task.topic)
    oracle = bench.oracle(targets, tuple(seeds), task.pages, frozenset())
    clock = VirtualClock()

    def make_parts() -> tuple[Judge, Strategy]:
        kind = registry.find("strategy", task.strategy)
        given = {"random_state": task.seed_set} if "random_state" in registry.parameters_of(kind) else {}
        return bench.judge(task, seeds), registry.make(
            "strategy", task.strategy, given, *bench.strategy_arguments(task)
        )

    frontier = MemoryFrontier(
        clock=clock,
        merge=make_parts()[1].merge,
        leases_per_host=SLOTS,  # many a frozen web is one host
        waiting_per_host=2 * len(bench.web) + 1000,
    )
    plan, started = FLEETS[name], time.process_time()
    fleet = Fleet(bench.web, bench.pages, plan, open_frontier=lambda: frontier, clock=clock, make_parts=make_parts)
    crawl = asyncio.run(fleet.run([bench.web.url_of(seed) for seed in seeds], task.pages))
    hits = [fetch.page_id in targets for fetch in crawl.fetches]
    return {
        "web": task.web,
        "topic": task.topic,
        "strategy": task.strategy,
        "fleet": name,
        "pages": task.pages,
        "fetched": len(hits),
        "percent_of_oracle": metrics.percent_of_oracle(hits, oracle.hits, task.pages),
        "harvest_rate": metrics.harvest_rate_at(hits, task.pages),
        "average_precision": statistics.mean(precision(bench, task, judge, set(seeds)) for judge in fleet.judges),
        "entry_bytes": fleet.state_stores.largest,
        "writes": dict(fleet.state_stores.writes),
        "seconds": time.process_time() - started,
    }


def precision(bench: TaskRunner, task: Task, judge: Judge, without: set[int]) -> float:
    """Give a judge's average precision over the web: all targets, and some other pages that stand for the rest."""
    targets = bench.web.targets(task.topic)
    rest = [number for number in range(len(bench.web)) if number not in targets and number not in without]
    others = Random(f"panel {task.topic}").sample(rest, min(PANEL, len(rest)))
    found = sorted(targets - without)
    on_topic = Random(f"targets {task.topic}").sample(found, min(PANEL, len(found)))
    pages = [page[0] for number in (*on_topic, *others) if (page := bench.pages.get(bench.web.url_of(number)))]
    truth = [bench.web.is_topic(page.url, task.topic) for page in pages]
    chances = [judge.judge(page).relevance for page in pages]
    weights = [len(found) / len(on_topic) if true else len(rest) / len(others) for true in truth]
    return float(average_precision_score(truth, chances, sample_weight=weights))


def run_learning(side: str, webs: dict[str, int], strategies: Sequence[str], path: Path) -> list[Row]:
    """Run what is not in the file yet."""
    known = {key(row): row for row in read_rows(path)}
    wanted = [
        (Task(web=web, topic=topic, strategy=strategy, seed_set=0, judge=JUDGE, pages=PAGES), fleet)
        for web, most in webs.items()
        for topic in split(web, side)[:most]  # type: ignore[arg-type]
        for strategy in strategies
        for fleet in FLEETS
    ]
    bench: TaskRunner | None = None
    for number, (task, fleet) in enumerate(wanted, start=1):
        name = key({**asdict(task), "fleet": fleet})
        if name in known:
            continue
        if bench is None or bench.web.name != task.web:
            bench = TaskRunner.open(task.web)
        known[name] = run_one(bench, task, fleet)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[name], ensure_ascii=False) + "\n")
        print(f"{number} of {len(wanted)}: {name} {known[name]['percent_of_oracle']:.1f}", flush=True)
        bench.flush()
    return [known[key({**asdict(task), "fleet": fleet})] for task, fleet in wanted]


def key(row: Row) -> str:
    return " ".join(str(row[name]) for name in ("web", "topic", "strategy", "fleet", "pages"))


def show_learning(rows: Sequence[Row]) -> None:
    """Print means, and what four workers lose against one, with intervals over topics."""
    for metric, digits in (("percent_of_oracle", 1), ("average_precision", 3)):
        lines = []
        for web in dict.fromkeys(row["web"] for row in rows):
            for strategy in dict.fromkeys(row["strategy"] for row in rows):
                own = [row for row in rows if (row["web"], row["strategy"]) == (web, strategy)]
                lines.append([web, strategy, *_line(own, metric, digits)])
            lines.append([web, "all four", *_line([row for row in rows if row["web"] == web], metric, digits)])
        print(metric)
        echo_table(["web", "strategy", *FLEETS, "together − 1", "alone − 1", "together − alone"], lines)
    sizes: dict[str, int] = {}
    for row in rows:
        for kind, size in row["entry_bytes"].items():
            sizes[kind] = max(size, sizes.get(kind, 0))
    print("largest entries, bytes:", sizes)
    print(f"{sum(row['seconds'] for row in rows) / 60:.1f} minutes of one core")


def _line(rows: Sequence[Row], metric: str, digits: int) -> list[str]:
    scores = [
        Score(strategy=row["fleet"], topic=row["topic"], seed_set=row["strategy"], value=row[metric]) for row in rows
    ]
    compared = {each.strategy: each for each in compare_paired(scores, ONE)}
    means = [f"{compared[name].mean.mean:.{digits}f}" for name in FLEETS]
    by_topic = {name: _topic_means(rows, name, metric) for name in FLEETS}
    versus_alone = bootstrap_difference(by_topic[TOGETHER], by_topic[ALONE])
    differences = [compared[TOGETHER].difference, compared[ALONE].difference, versus_alone]
    return [*means, *(_interval(each, digits) for each in differences)]


def _topic_means(rows: Sequence[Row], fleet: str, metric: str) -> list[float]:
    topics = sorted({row["topic"] for row in rows})
    return [
        statistics.mean(row[metric] for row in rows if (row["topic"], row["fleet"]) == (topic, fleet))
        for topic in topics
    ]


def _interval(interval: Interval, digits: int) -> str:
    return f"{interval.mean:+.{digits}f} [{interval.low:+.{digits}f}, {interval.high:+.{digits}f}]"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.effectiveness.fleet", description=__doc__)
    parser.add_argument("--side", choices=["dev", "test"], default="test")
    parser.add_argument("--webs", default=",".join(WEBS))
    parser.add_argument("--topics", type=int, default=max(WEBS.values()), help="of each web, at most")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    parser.add_argument("--cluster", action="store_true", help="run the cluster instead")
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--hosts", type=int, default=3000)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--store", help="of the cluster: redis://host:port/db instead of memory")
    options = parser.parse_args()
    if options.cluster:
        from bench.effectiveness.cluster import run_cluster, show_cluster

        show_cluster(asyncio.run(run_cluster(options.workers, options.hosts, options.pages, store=options.store)))
        return
    webs = {web: min(WEBS[web], options.topics) for web in options.webs.split(",")}
    show_learning(run_learning(options.side, webs, options.strategies.split(","), options.output))


if __name__ == "__main__":
    main()
