"""What does a model gone astray cost?

``python -m bench.effectiveness.flagship_poison --side test`` (needs THRESHER_WEBS).

``strategy: thresher`` crawls with a model that is given random labels for its first 300 examples, and with one that
reads all features upside down; beside it itself, without its net too, and the classics. Promised: at most 15 % below
the best classic. The judge, the links and everything else are as ever.
"""

from __future__ import annotations

import argparse
import asyncio
from random import Random
from statistics import fmean

import numpy as np

from thresher.strategies.base import Strategy
from thresher.strategies.link_model.model import NAMES, PRIOR, Floats, Model, read_prior
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics import metrics

CLASSICS = ("best-first", "relevant-parents", "page-anchor", "fcmrps", "shark", "breadth-first")
POISONED_EXAMPLES = 300


class RandomLabels(Model):
    """A model that is given random labels at first."""

    draw = Random(1)

    def add(self, key: int, x: Floats, r: float) -> None:
        """Take in an example, with a label by the toss of a coin for a while."""
        super().add(key, x, float(self.draw.random() < 0.5) if self.count < POISONED_EXAMPLES else r)


class UpsideDown(Model):
    """Reads every feature but the bias with the wrong sign, and never learns."""

    signs = np.array([1.0 if name == "bias" else -1.0 for name in NAMES])

    def predict(self, x: Floats) -> Floats:
        """Foresee from the wrong features."""
        return super().predict(x * self.signs)

    def fit(self) -> None:
        """Stay wrong."""


def contenders(bench: TaskRunner, task: Task) -> dict[str, Strategy]:
    """Make the strategies of a crawl."""
    topic_profile = bench.topic_profile(task.topic)
    made: dict[str, Strategy] = {
        "thresher": LinkModelStrategy(topic_profile),
        "thresher without its net": LinkModelStrategy(topic_profile, net=False),
    }
    for name, kind in (("random labels", RandomLabels), ("features upside down", UpsideDown)):
        for net in (True, False):
            strategy = LinkModelStrategy(topic_profile, net=net)
            strategy._model = kind(read_prior(PRIOR, NAMES))
            made[f"{name}{'' if net else ', without net'}"] = strategy
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default="wikispeedia,w3school_zh")
    parser.add_argument("--side", choices=["dev", "test"], default="dev")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--pages", type=int, default=500)
    options = parser.parse_args()
    for web in options.webs.split(","):
        bench, areas = TaskRunner.open(web), dict[str, list[float]]()
        for topic in split(web, options.side)[: options.topics]:
            for name in CLASSICS:
                row = bench.run(Task(web=web, topic=topic, strategy=name, seed_set=0, pages=options.pages))
                areas.setdefault(name, []).append(row["percent_of_oracle"])
            task = Task(web=web, topic=topic, strategy="thresher", seed_set=0, pages=options.pages)
            for name, strategy in contenders(bench, task).items():
                areas.setdefault(name, []).append(crawled(bench, task, strategy))
        bench.flush()
        best = max(fmean(areas[name]) for name in CLASSICS)
        print(f"{web}, {options.side}, {len(areas['thresher'])} topics, {options.pages} fetches, true labels")
        for name, values in sorted(areas.items(), key=lambda each: -fmean(each[1])):
            share, beside = fmean(values), 100 * fmean(values) / best - 100
            print(f"{share:6.1f} % of the oracle, {beside:+6.1f} % of the best classic: {name}")


def crawled(bench: TaskRunner, task: Task, strategy: Strategy) -> float:
    """Crawl, and give the share of the oracle's area."""
    seeds = bench.seeds(task)
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    crawl = asyncio.run(simulator.run([bench.web.url_of(seed) for seed in seeds], task.pages))
    targets = bench.web.targets(task.topic)
    hits = [fetch.page_id in targets for fetch in crawl.fetches]
    oracle = bench.oracle(targets, tuple(seeds), task.pages, frozenset())
    return metrics.percent_of_oracle(hits, oracle.hits, task.pages)


if __name__ == "__main__":
    main()
