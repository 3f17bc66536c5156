"""Where does tunnelling pay? ``python -m bench.effectiveness.tunnelling`` (needs THRESHER_WEBS).

WebKB, the five classes of its universities, seeds that are 0 to 3 links away from the topic. Beside the trained
strategies runs a context graph that knows the true layer of every page: what it loses, no better classifier wins.
Rows are added to bench/results/tunnelling.jsonl as they come; what is there is not run again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from thresher.cli.output import echo_table
from thresher.records import ParsedPage
from thresher.topics.profile import TopicProfile
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import ORACLE, PERFECT, PerfectJudge, Task, TaskRunner, key_of
from thresher_lab.statistics import metrics
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Score, compare_paired
from thresher_papers.strategies.context_graph import ContextGraph

WEB = "webkb"
TOPICS = ("course", "faculty", "project", "staff", "student")
STRATEGIES = (ORACLE, "breadth-first", "best-first", "page-anchor", "context-graph", "layers", "rules")
KNOWN = "context graph, layers known"
UNIVERSITIES = 4
PAGES, TRAINING = 300, 0.3
RESULTS = Path(__file__).parents[1] / "results" / "tunnelling.jsonl"


class KnownLayers(ContextGraph):
    """A context graph that looks the layer of a page up instead of guessing it from words."""

    def __init__(self, topic_profile: TopicProfile, bench: TaskRunner, targets: Sequence[int]) -> None:
        super().__init__(topic_profile)
        self._web = bench.web
        self._distances = bench.graph.distances_to(targets)
        self.learned = self._model
        self._model = _LayerLookup(self._model.N, self.layer_of)  # type: ignore[assignment]

    def layer_of(self, page: ParsedPage) -> tuple[int, float]:
        number = self._web.page_id(page.url)
        k = -1 if number is None else int(self._distances[number])
        return (k if 0 <= k <= self._model.N else self._model.N + 1), 1.0


class _LayerLookup:
    def __init__(self, N: int, layer_of: Any) -> None:
        self.N = N
        self.layer_of = layer_of


def tasks(distances: Sequence[int], strategies: Sequence[str]) -> list[Task]:
    return [
        Task(web=WEB, topic=topic, strategy=strategy, seed_set=seed_set, pages=PAGES, training=TRAINING, distance=far)
        for topic in TOPICS
        for seed_set in range(UNIVERSITIES)
        for far in distances
        for strategy in strategies
    ]


def run_known(asked: Sequence[Task], path: Path) -> list[dict[str, Any]]:
    """Run the context graph that knows the layers."""
    known = {key_of(row): row for row in read_rows(path)}
    bench: TaskRunner | None = None
    for task in asked:
        if task.key not in known:
            bench = bench or TaskRunner.open(WEB)
            known[task.key] = _known_row(bench, task)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[task.key]) + "\n")
    return [known[task.key] for task in asked]


def _known_row(bench: TaskRunner, task: Task) -> dict[str, Any]:
    trained = replace(task, strategy="context-graph")
    free, seeds = bench.split(trained).targets, bench.seeds(trained)
    targets = bench.web.targets(task.topic) - free
    strategy = KnownLayers(bench.strategy_arguments(trained)[0], bench, sorted(targets))
    simulator = Simulator(bench.web, bench.pages, judge=PerfectJudge(bench.web, task.topic), strategy=strategy)
    crawl = asyncio.run(simulator.run(list(map(bench.web.url_of, seeds)), PAGES, free=free))
    hits = [fetch.page_id in targets for fetch in crawl.fetches]
    best = bench.oracle(targets, tuple(seeds), PAGES, free)
    return {**asdict(task), "percent_of_oracle": metrics.percent_of_oracle(hits, best.hits, PAGES)}


def print_accuracy() -> None:
    """Say how often the classifier of layers is right about the pages of the university that it has not seen."""
    bench = TaskRunner.open(WEB)
    lines = []
    for topic in TOPICS:
        shares = []
        for task in (each for each in tasks([0], ["context-graph"]) if each.topic == topic):
            split = bench.split(task)
            strategy = KnownLayers(
                bench.strategy_arguments(task)[0], bench, sorted(bench.web.targets(topic) - split.targets)
            )
            found = [page[0] for number in sorted(split.hidden) if (page := bench.pages.get(bench.web.url_of(number)))]
            right = sum(strategy.learned.layer_of(page)[0] == strategy.layer_of(page)[0] for page in found)
            shares.append(f"{100 * right / len(found):.0f}")
        lines.append([topic, *shares])
    print("% of pages whose layer (0 to 4, or none of them) is recognised, by university")
    echo_table(["topic", *map(str, range(UNIVERSITIES))], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distances", default="0,1,2,3")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    distances = [int(each) for each in options.distances.split(",")]
    rows = run_tasks(
        tasks(distances, STRATEGIES),
        options.output,
        processes=options.workers,
        progress=lambda done, total: print(f"{done} of {total}", end="\r", flush=True) if done % 20 == 0 else None,
    )
    rows += run_known(tasks(distances, [KNOWN]), options.output)
    names = [name for name in (*STRATEGIES, KNOWN) if name != ORACLE]
    lines = []
    for far in distances:
        scores = [
            Score(strategy=row["strategy"], topic=row["topic"], seed_set=row["seed_set"],
                  value=row["percent_of_oracle"])
            for row in rows
            if row["distance"] == far and row["strategy"] != ORACLE
        ]  # fmt: skip
        found = {each.strategy: each for each in compare_paired(scores, "best-first")}
        lines.append([f"{far} links", *(f"{found[name].mean.mean:.1f}" for name in names)])
        lines.append(["− best-first", *(_difference(found[name].difference) for name in names)])
    print(f"{WEB}, {PERFECT} judge, {PAGES} fetches, {len(TOPICS)} topics × {UNIVERSITIES} universities: % of oracle")
    echo_table(["seeds away", *names], lines)
    print_accuracy()


def _difference(interval: Any) -> str:
    return f"{interval.mean:+.1f} [{interval.low:+.1f}, {interval.high:+.1f}]"


if __name__ == "__main__":
    main()
