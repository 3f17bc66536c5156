"""What ``strategy: thresher`` starts from: ``python -m bench.effectiveness.flagship_prior`` (needs THRESHER_WEBS).

Dev topics alone are crawled, by the strategy itself, with true labels and with the crawl's own judge. At some moments
of each crawl the features of all that waits are written down, with what the web knows of them; ``--examples`` keeps
them, so that the rest takes seconds.

1. A small net learns from all moments to put the relevant first (`bench.effectiveness.listwise`). Its hidden layer
gives the combinations of features.
2. Its scores become probabilities by one slope and one level.
3. How much each crawl would rather have another weight gives how strongly that is held, by empirical Bayes.

``--leave-out`` tells how well a net does on topics that it was not taught on: precision among the best 20 that wait.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from bench.effectiveness.listwise import List, Taught, Teaching, taught
from thresher.strategies.link_model.link_table import Ints
from thresher.strategies.link_model.model import NAMES, Prior, sigmoid
from thresher.strategies.link_model.strategy import LinkModelStrategy
from thresher_lab.simulation.simulator import Simulator
from thresher_lab.simulation.tasks import PERFECT, Task, TaskRunner
from thresher_lab.simulation.topic_splits import split

WEBS = ("wikispeedia", "w3school_zh", "mdn_zh", "nankai_zh", "webkb", "archipelago")
MOMENTS = (5, 10, 20, 30, 50, 75, 100, 150, 200, 250)
IRRELEVANT = 400
"""URLs that are not of the topic, at each moment; the others are drawn from, and weigh more."""
MASS = 10.0
"""How many examples a moment stands for when one crawl alone is fitted: its moments are much alike."""
MIN_PRIOR_STRENGTH, MAX_PRIOR_STRENGTH, ROUNDS = 0.2, 20.0, 3
MIN_STEP = 1e-4
FOLDS = 4
OUTPUT = Path(__file__).parents[2] / "src" / "thresher" / "strategies" / "link_model" / "prior.json"

Floats = NDArray[np.float64]


@dataclass
class Examples:
    """What waited at the moments of one crawl."""

    lists: list[List] = field(default_factory=list)

    def add(self, x: Floats, y: NDArray[np.bool_], draw: np.random.Generator) -> None:
        """Take in what waits at one moment."""
        if not y.any() or y.all():
            return
        others = np.flatnonzero(~y)
        drawn = draw.choice(others, min(IRRELEVANT, len(others)), replace=False)
        rows = np.concatenate([np.flatnonzero(y), drawn])
        weight = np.where(y[rows], 1.0, len(others) / len(drawn))
        self.lists.append(List(x=x[rows], y=y[rows].astype(np.float64), weight=weight / weight.sum()))

    def save(self, path: Path) -> None:
        """Keep them."""
        x, y, weight = self.joined()
        np.savez_compressed(path, x=x, y=y, weight=weight, ends=np.cumsum([len(each.y) for each in self.lists]))

    @classmethod
    def load(cls, path: Path) -> Examples:
        """Read what was kept."""
        with np.load(path, allow_pickle=False) as kept:
            parts = [np.split(kept[name], kept["ends"][:-1]) for name in ("x", "y", "weight")]
            lists = zip(*parts, strict=True) if len(kept["ends"]) else ()
            return cls([List(x=x, y=y, weight=weight) for x, y, weight in lists])

    def joined(self) -> tuple[Floats, Floats, Floats]:
        """Give all moments as one."""
        empty = List(x=np.zeros((0, len(NAMES))), y=np.zeros(0), weight=np.zeros(0))
        lists = [*self.lists, empty]
        return (
            np.concatenate([each.x for each in lists]),
            np.concatenate([each.y for each in lists]),
            np.concatenate([each.weight for each in lists]),
        )


@dataclass(frozen=True, kw_only=True)
class Crawl:
    """How a topic is crawled: from how many seeds, how many pages, and by which prior."""

    seeds: int
    pages: int
    start: str


class Watched(LinkModelStrategy):
    """The strategy, telling what it knows of all that waits."""

    examples: Examples
    bench: TaskRunner
    topic: str
    moments: list[int]

    def _features(self, numbers: Ints, rows: Ints, at: Ints) -> Floats:
        x = super()._features(numbers, rows, at)
        done = int(np.count_nonzero(self._links.urls["fetched"]))
        if self.moments and done >= self.moments[0] and len(numbers) == len(self._links.waiting()[0]):
            self.moments = [moment for moment in self.moments if moment > done]
            pages = [self.bench.web.page_id(self._links.names[number]) for number in numbers.tolist()]
            targets = self.bench.web.targets(self.topic)
            y = np.array([page in targets for page in pages])
            self.examples.add(x, y, np.random.default_rng(len(numbers)))
        return x


def watched_crawl(bench: TaskRunner, topic: str, judge: str, crawl: Crawl) -> Examples:
    """Crawl one topic, and return what waited at the moments."""
    pages = crawl.pages
    task = Task(
        web=bench.web.name, topic=topic, strategy="thresher", seed_set=0, judge=judge, pages=pages, seeds=crawl.seeds
    )
    strategy = Watched(*bench.strategy_arguments(task), sweep_urls=len(bench.web) * 2, prior=crawl.start)
    strategy.examples, strategy.bench, strategy.topic = Examples(), bench, topic
    strategy.moments = [moment for moment in MOMENTS if moment <= pages]
    seeds = bench.seeds(task)
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    asyncio.run(simulator.run([bench.web.url_of(seed) for seed in seeds], pages))
    return strategy.examples


def collect(web: str, judges: Sequence[str], crawls: Sequence[Crawl], folder: Path) -> None:
    """Crawl all dev topics of a web; crawls that are there are not run again."""
    bench = TaskRunner.open(web)
    for topic in split(web, "dev"):
        for judge, crawl in product(judges, crawls):
            path = folder / f"{web} {topic.replace('/', ' ')} {crawl.seeds} {judge}.npz"
            if not path.exists():
                watched_crawl(bench, topic, judge, crawl).save(path)
        print(f"{web} {topic}", flush=True)
    bench.flush()


def kept(webs: Iterable[str], judges: Sequence[str], folder: Path, without: str) -> Iterator[tuple[str, Examples]]:
    """Read the crawls of some webs and judges that were kept, with some features left out."""
    used = np.array([float(name not in without.split("+")) for name in NAMES])
    for path in sorted(folder.glob("*.npz")):
        web, _, rest = path.stem.partition(" ")
        if web in webs and rest.rpartition(" ")[2] in judges:
            crawl = Examples.load(path)
            yield path.stem, Examples([List(x=each.x * used, y=each.y, weight=each.weight) for each in crawl.lists])


def fitted(
    x: Floats, y: Floats, weight: Floats, *, start: Floats, prior_strength: Floats, steps: int = 25
) -> tuple[Floats, Floats]:
    """Give the weights of the least log loss, held to a start, and the curvature there: Newton, never uphill."""

    def loss(w: Floats) -> float:
        z = x @ w
        return float(weight @ (np.logaddexp(0, z) - y * z) + prior_strength @ (w - start) ** 2 / 2)

    w, curvature = start.copy(), np.diag(prior_strength)
    least = loss(w)
    for _ in range(steps):
        p = sigmoid(x @ w)
        gradient = x.T @ (weight * (p - y)) + prior_strength * (w - start)
        curvature = (x * (weight * (p * (1 - p) + 1e-6))[:, None]).T @ x + np.diag(prior_strength)
        step = np.linalg.solve(curvature, gradient)
        while (next_loss := loss(w - step)) > least and np.abs(step).max() > MIN_STEP:
            step /= 2
        if np.abs(step).max() <= MIN_STEP:
            break
        w, least = w - step, next_loss
    return w, curvature


def learned(crawls: Sequence[Examples], teaching: Teaching) -> Prior:
    """Teach a net, make its scores probabilities, and find how strongly each weight is held."""
    net = taught([each for crawl in crawls for each in crawl.lists], teaching)
    parts = [crawl.joined() for crawl in crawls if crawl.lists]
    x, y, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    level_and_slope = np.stack([np.ones(len(y)), net.scores(x)], axis=1)
    (level, slope), _ = fitted(level_and_slope, y, weight, start=np.array([0.0, 1.0]), prior_strength=np.full(2, 1e-3))
    weights = slope * np.concatenate([net.straight, net.combined])
    weights[0] += level
    return Prior(weights=weights, prior_strength=_holds(net, weights, parts), mixing=net.mixing)


def _holds(net: Taught, weights: Floats, parts: Sequence[tuple[Floats, Floats, Floats]]) -> Floats:
    prior = Prior(weights=weights, prior_strength=np.ones(len(weights)), mixing=net.mixing)
    wide = [(prior.with_combinations(x), y, MASS * weight) for x, y, weight in parts]
    prior_strength = prior.prior_strength
    for _ in range(ROUNDS):
        own = [fitted(*part, start=weights, prior_strength=prior_strength, steps=15) for part in wide]
        spread = np.mean([(one - weights) ** 2 + 1 / np.diag(curvature) for one, curvature in own], axis=0)
        prior_strength = np.clip(1 / spread, MIN_PRIOR_STRENGTH, MAX_PRIOR_STRENGTH)
    return prior_strength


def precision(prior: Prior, crawl: Examples, best: int = 20) -> float:
    """Give the precision among the best that wait, as many as there are targets at most, over all moments."""
    found = []
    for each in crawl.lists:
        scores = prior.with_combinations(each.x) @ prior.weights
        most = min(best, int(each.y.sum()))
        found.append(float(each.y[np.argsort(-scores, kind="stable")[:most]].mean()))
    return fmean(found)


def left_out(crawls: Mapping[str, Examples], teaching: Teaching) -> Iterator[tuple[str, float]]:
    """Give the precision on each crawl of a net that was not taught on its topic, nor on that of another web."""
    topics = sorted({_topic(name) for name in crawls})
    draw = np.random.default_rng(0)
    fold = dict(zip(topics, draw.permutation(len(topics)) % FOLDS, strict=True))
    for number in range(FOLDS):
        prior = learned([crawl for name, crawl in crawls.items() if fold[_topic(name)] != number], teaching)
        held = {name: crawl for name, crawl in crawls.items() if fold[_topic(name)] == number and crawl.lists}
        yield from ((name, precision(prior, crawl)) for name, crawl in held.items())


def _topic(name: str) -> str:
    """Return the topic of a crawl; the archipelago's are those of its islands."""
    return name.removeprefix("archipelago ").rsplit(" ", 2)[0]


def written(prior: Prior, recipe: str, topics: int) -> str:
    """Write a prior down."""
    rows = [
        {"weight": round(float(weight), 4), "hold": round(float(prior_strength), 2)}
        for weight, prior_strength in zip(prior.weights, prior.prior_strength, strict=True)
    ]
    mixing = [[round(float(each), 4) for each in row] for row in prior.mixing]
    features = {name: {**row, "mixing": mixed} for name, row, mixed in zip(NAMES, rows, mixing, strict=False)}
    content = {"recipe": recipe, "topics": topics, "features": features, "combinations": rows[len(NAMES) :]}
    return json.dumps(content) + "\n"


def crawls_of(options: argparse.Namespace) -> list[Crawl]:
    """Return the crawls of each topic; those from few seeds show how a crawl begins, and are shorter."""
    pages = {5: options.pages, 2: options.pages * 2 // 3, 1: options.pages // 2}
    return [Crawl(seeds=seeds, pages=most, start=options.start) for seeds, most in pages.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--webs", default=",".join(WEBS))
    parser.add_argument("--judges", default=f"{PERFECT},adaptive")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=Teaching.hidden, help="combinations of features")
    parser.add_argument("--without", default="", help="features to leave out, joined by +")
    parser.add_argument("--examples", type=Path, default=Path("thresher-lab/prior"), help="where they are kept")
    parser.add_argument("--start", default="", help="the prior of the crawls that are watched")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--leave-out", action="store_true", help="also learn without some topics in turn")
    options = parser.parse_args()
    options.examples.mkdir(parents=True, exist_ok=True)
    webs, judges = options.webs.split(","), options.judges.split(",")
    with ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(collect, web, judges, crawls_of(options), options.examples) for web in webs]:
            done.result()
    crawls = dict(kept(webs, judges, options.examples, options.without))
    teaching = Teaching(hidden=options.hidden)
    command = "python -m bench.effectiveness.flagship_prior"
    recipe = f"{command} --webs {options.webs} --judges {options.judges} --pages {options.pages}"
    prior = learned(list(crawls.values()), teaching)
    options.output.write_text(written(prior, recipe, len(set(map(_topic, crawls)))), encoding="utf-8")
    same = [(name, precision(prior, crawl)) for name, crawl in crawls.items() if crawl.lists]
    _show("taught on the same topics", same, webs)
    if options.leave_out:
        _show("taught on other topics", list(left_out(crawls, teaching)), webs)


def _show(title: str, found: Sequence[tuple[str, float]], webs: Iterable[str]) -> None:
    means = {web: fmean(value for name, value in found if name.startswith(f"{web} ")) for web in webs}
    print(f"precision at 20, {title}: " + ", ".join(f"{web} {mean:.3f}" for web, mean in means.items()))


if __name__ == "__main__":
    main()
