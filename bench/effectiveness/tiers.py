"""Does a cold storage change what a crawl finds?

``python -m bench.effectiveness.tiers`` (needs THRESHER_WEBS and redis-server).

The same simulated crawls with a frontier in memory and with tiers, which keep a small part of the waiting URLs hot.
Compared is the share of on-topic pages among the fetches, with a bootstrap interval over topics of the mean difference.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from functools import partial
from itertools import count
from pathlib import Path
from statistics import fmean
from typing import Any

from testing.servers import store_server
from thresher import registry
from thresher.frontier.base import CrawlStore
from thresher.frontier.tiered.frontier import TieredFrontier
from thresher.objects.base import FolderObjects
from thresher_lab.simulation.memory_frontier.frontier import MemoryFrontier
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import split

ROWS = Path(__file__).parents[1] / "results" / "tiers-harvest.jsonl"
RESAMPLES = 10_000


class Tiers:
    """Opens a frontier for each crawl and remembers it."""

    def __init__(self, url: str, folder: Path, hot_urls: int, least_hot: int) -> None:
        self._url, self._folder = url, folder
        self._hot_urls, self._least_hot = hot_urls, least_hot
        self._names = count(1)
        self.last: TieredFrontier | None = None

    def __call__(self, **settings: Any) -> CrawlStore:
        self.last = TieredFrontier(
            self._url,
            f"crawl{next(self._names)}",
            objects=FolderObjects(self._folder, durable=False),
            hot_urls=self._hot_urls,
            least_hot=self._least_hot,
            background=False,
            **settings,
        )
        return self.last


def harvest(runner: TaskRunner, task: Task, open_frontier: Any) -> tuple[float, int, int]:
    """Crawl; return the harvest, and how many URLs wait and are cold in the end."""
    return asyncio.run(_harvest(runner, task, open_frontier))


async def _harvest(runner: TaskRunner, task: Task, open_frontier: Any) -> tuple[float, int, int]:
    seeds = runner.seeds(task)
    strategy = registry.make("strategy", task.strategy, {}, *runner.strategy_arguments(task))
    judge = runner.judge(task, seeds)
    simulator = Simulator(runner.web, runner.pages, judge=judge, strategy=strategy, open_frontier=open_frontier)
    crawl = await simulator.run([runner.web.url_of(seed) for seed in seeds], task.pages)
    targets = runner.web.targets(task.topic)
    found = sum(fetch.page_id in targets for fetch in crawl.fetches) / task.pages
    waiting = cold = 0
    if isinstance(open_frontier, Tiers) and (frontier := open_frontier.last):
        sums = await frontier.connection.call("HMGET", frontier.prefix(0) + b"x", "waiting", "cold")
        waiting, cold = (int(each or 0) for each in sums)
        await frontier.close()
    return found, waiting, cold


def interval(differences: list[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    rng = random.Random(1)
    means = sorted(fmean(rng.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return means[RESAMPLES // 40], means[-RESAMPLES // 40]


def main() -> None:
    """Crawl all topics in both ways and print the difference."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--web", default="archipelago")
    parser.add_argument("--strategy", default="thresher")
    parser.add_argument("--topics", type=int, default=12)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--hot-urls", type=int, default=200)
    parser.add_argument("--least-hot", type=int, default=24)
    parser.add_argument("--rows", type=Path, default=ROWS)
    options = parser.parse_args()
    runner, differences = TaskRunner.open(options.web), []
    with tempfile.TemporaryDirectory(prefix="bench-tiers-") as name, store_server("redis", Path(name) / "s") as server:
        tiers = Tiers(server.url, Path(name) / "cold", options.hot_urls, options.least_hot)
        for topic in split(options.web, "dev")[: options.topics]:
            task = Task(web=options.web, topic=topic, strategy=options.strategy, seed_set=0, pages=options.pages)
            plain, *_ = harvest(runner, task, partial(MemoryFrontier))
            tiered, waiting, cold = harvest(runner, task, tiers)
            differences.append(tiered - plain)
            row = {"topic": topic, "plain": plain, "tiered": tiered, "waiting": waiting, "cold": cold}
            row |= {"web": options.web, "strategy": options.strategy, "pages": options.pages}
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row | {"hot_urls": options.hot_urls}) + "\n")
            print(row, flush=True)
    runner.flush()
    low, high = interval(differences)
    print(f"{len(differences)} topics: {fmean(differences):+.4f} harvest, 95 % from {low:+.4f} to {high:+.4f}")


if __name__ == "__main__":
    main()
