"""The weights that ``strategy: thresher`` starts from: ``python -m bench.flagship_prior`` (needs THRESHER_WEBS).

Dev topics alone are crawled, by the strategy itself, with true labels and with the crawl's own judge. At some moments
of each crawl the features of all that waits are written down, with what the web knows of them. One logistic regression
over all topics gives the weights; how much each topic would rather have another weight gives how strongly it is held,
by empirical Bayes. Every moment of every crawl weighs the same. ``--leave-out`` tells how well weights do that were
learned without a topic, on that topic: precision among the best 20 that wait.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.lab.simulate import Simulator
from thresher.lab.splits import split
from thresher.lab.tasks import PERFECT, Bench, Task
from thresher.strategies.learned.features import NAMES
from thresher.strategies.learned.links import Ints
from thresher.strategies.learned.model import sigmoid
from thresher.strategies.thresher import Thresher

WEBS = ("wikispeedia", "w3school_zh", "mdn_zh", "nankai_zh", "webkb", "archipelago")
MOMENTS = (5, 10, 20, 30, 50, 75, 100, 150, 200, 250)
IRRELEVANT = 400
"""URLs that are not of the topic, at each moment; the others are drawn from, and weigh more."""
MASS, OF_ONE_CRAWL = 100.0, 0.1
"""What a moment weighs, and how much of that when one crawl alone is fitted: its moments are much alike."""
RIDGE = 20.0
LEAST_HOLD, MOST_HOLD, ROUNDS = 0.2, 20.0, 3
OUTPUT = Path(__file__).parents[1] / "src" / "thresher" / "strategies" / "learned" / "prior.json"

Floats = NDArray[np.float64]


@dataclass
class Examples:
    """Features, labels and weights, and from which crawl they are."""

    x: list[Floats] = field(default_factory=list)
    y: list[Floats] = field(default_factory=list)
    weight: list[Floats] = field(default_factory=list)

    def add(self, x: Floats, y: NDArray[np.bool_], draw: np.random.Generator) -> None:
        """Take in what waits at one moment."""
        if not y.any() or y.all():
            return
        others = np.flatnonzero(~y)
        drawn = draw.choice(others, min(IRRELEVANT, len(others)), replace=False)
        rows = np.concatenate([np.flatnonzero(y), drawn])
        weight = np.where(y[rows], 1.0, len(others) / len(drawn))
        self.x.append(x[rows])
        self.y.append(y[rows].astype(np.float64))
        self.weight.append(MASS * weight / weight.sum())

    def joined(self) -> tuple[Floats, Floats, Floats]:
        """Give all moments as one."""
        return np.concatenate(self.x), np.concatenate(self.y), np.concatenate(self.weight)


class Watched(Thresher):
    """The strategy, telling what it knows of all that waits."""

    examples: Examples
    bench: Bench
    topic: str
    fetched = 0
    moments: list[int]

    def _features(self, numbers: Ints, rows: Ints, at: Ints) -> Floats:
        x = super()._features(numbers, rows, at)
        done = int(np.count_nonzero(self._known.urls["fetched"]))
        if self.moments and done >= self.moments[0] and len(numbers) == len(self._known.waiting()[0]):
            self.moments = [moment for moment in self.moments if moment > done]
            pages = [self.bench.web.page_id(self._known.names[number]) for number in numbers.tolist()]
            alive = np.array([page is not None for page in pages])
            targets = self.bench.web.targets(self.topic)
            y = np.array([page in targets for page in pages])
            self.examples.add(x[alive], y[alive], np.random.default_rng(len(numbers)))
        return x


def watched_crawl(bench: Bench, topic: str, judge: str, pages: int) -> Examples:
    """Crawl one topic, and give what waited at the moments."""
    task = Task(web=bench.web.name, topic=topic, strategy="thresher", seed_set=0, judge=judge, pages=pages)
    strategy = Watched(*bench.told(task), sweep_urls=len(bench.web) * 2)
    strategy.examples, strategy.bench, strategy.topic = Examples(), bench, topic
    strategy.moments = [moment for moment in MOMENTS if moment <= pages]
    seeds = bench.seeds(task)
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    asyncio.run(simulator.run([bench.web.url_of(seed) for seed in seeds], pages))
    return strategy.examples


def fitted(
    x: Floats, y: Floats, weight: Floats, *, start: Floats, hold: Floats, steps: int = 25
) -> tuple[Floats, Floats]:
    """Give the weights of the least loss, held to a start, and the curvature there."""
    w, curvature = start.copy(), np.diag(hold)
    for _ in range(steps):
        p = sigmoid(x @ w)
        gradient = x.T @ (weight * (p - y)) + hold * (w - start)
        curvature = (x * (weight * (p * (1 - p) + 1e-6))[:, None]).T @ x + np.diag(hold)
        step = np.linalg.solve(curvature, gradient)
        w -= step / max(1.0, float(np.abs(step).max()) / 2)
        if np.abs(step).max() < 1e-4:
            break
    return w, curvature


def learned(crawls: Sequence[Examples]) -> tuple[Floats, Floats]:
    """Give the weights over all crawls, and how strongly each is held."""
    parts = [crawl.joined() for crawl in crawls if crawl.x]
    x, y, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    ridge = np.full(len(NAMES), RIDGE)
    w, _ = fitted(x, y, weight, start=np.zeros(len(NAMES)), hold=ridge)
    hold = np.ones(len(NAMES))
    for _ in range(ROUNDS):
        own = [fitted(*part[:2], OF_ONE_CRAWL * part[2], start=w, hold=hold, steps=15) for part in parts]
        spread = np.mean([(one - w) ** 2 + 1 / np.diag(curvature) for one, curvature in own], axis=0)
        hold = np.clip(1 / spread, LEAST_HOLD, MOST_HOLD)
    return w, hold


def precision(w: Floats, crawl: Examples, best: int = 20) -> float:
    """Give the precision among the best that wait, as many as there are targets at most, over all moments."""
    found = []
    for x, y in zip(crawl.x, crawl.y, strict=True):
        most = min(best, int(y.sum()))
        found.append(float(y[np.argsort(-(x @ w), kind="stable")[:most]].mean()))
    return float(np.mean(found))


def collected(webs: Iterable[str], judges: Iterable[str], pages: int) -> dict[str, list[Examples]]:
    """Crawl all dev topics of some webs; give the crawls of each topic."""
    crawls: dict[str, list[Examples]] = {}
    for web in webs:
        bench = Bench.open(web)
        for topic in split(web, "dev"):
            for judge in judges:
                crawls.setdefault(f"{web} {topic}", []).append(watched_crawl(bench, topic, judge, pages))
            print(f"{web} {topic}", flush=True)
        bench.flush()
    return crawls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default=",".join(WEBS))
    parser.add_argument("--judges", default=f"{PERFECT},adaptive")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--leave-out", action="store_true", help="also learn without each topic in turn")
    options = parser.parse_args()
    crawls = collected(options.webs.split(","), options.judges.split(","), options.pages)
    w, hold = learned([crawl for found in crawls.values() for crawl in found])
    recipe = f"python -m bench.flagship_prior --webs {options.webs} --judges {options.judges} --pages {options.pages}"
    weights = {name: round(float(value), 3) for name, value in zip(NAMES, w, strict=True)}
    holds = {name: round(float(value), 2) for name, value in zip(NAMES, hold, strict=True)}
    content = {"recipe": recipe, "topics": len(crawls), "weights": weights, "hold": holds}
    options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    told = {topic: [crawl for crawl in found if crawl.x] for topic, found in crawls.items()}
    print(
        f"precision at 20, learned on the same topics: {_mean(precision(w, c) for cs in told.values() for c in cs):.3f}"
    )
    if options.leave_out:
        scores = []
        for topic in told:
            without, _ = learned([crawl for other, found in told.items() if other != topic for crawl in found])
            scores += [precision(without, crawl) for crawl in told[topic]]
        print(f"learned on all other topics: {np.mean(scores):.3f}")


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


if __name__ == "__main__":
    main()
