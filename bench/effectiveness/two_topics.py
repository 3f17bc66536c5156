"""Two topics in one crawl against two crawls: ``python -m bench.effectiveness.two_topics`` (needs THRESHER_WEBS).

Pairs of test topics. One crawl of both topics makes N fetches; two crawls of one topic each make N/2, from the same
seeds.
Counted are the relevant pages of each topic, and those of both with a page of two topics counted once. A crawl of one
topic finds pages of its own topic only: what it fetches of the other one would not be known as such.

Rows are added to ``bench/results/two-topics.jsonl`` as they come; what is there is not run again. ``--print`` prints
the ratios of what is there, with 95 % bootstrap intervals over the pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from thresher import registry
from thresher.judges.topics import topics_judge
from thresher.strategies.topics import TopicsStrategy
from thresher_lab.simulation.simulator import SimulatedCrawl, Simulator
from thresher_lab.simulation.tasks import PERFECT, Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows

ROWS = Path(__file__).parents[1] / "results" / "two-topics.jsonl"
STRATEGY = "thresher"
JUDGES = (PERFECT, "adaptive")
PAIRS = {"wikispeedia": 20, "webkb": 3, "mdn_zh": 4}
"""Pairs per web; the third topic of webkb makes a pair with each of the others."""
PAGES, SEEDS = 600, 5
RESAMPLES = 2_000


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two topics that are crawled together and one after the other."""

    web: str
    topics: tuple[str, str]
    judge: str
    seed_set: int = 0
    pages: int = PAGES

    @property
    def key(self) -> tuple[object, ...]:
        return (self.web, *self.topics, self.judge, self.seed_set, self.pages)

    def task(self, topic: str) -> Task:
        """Return the crawl of one of the topics, with half of the fetches."""
        return Task(
            web=self.web,
            topic=topic,
            strategy=STRATEGY,
            seed_set=self.seed_set,
            judge=self.judge,
            pages=self.pages // 2,
            seeds=SEEDS,
        )


def key_of(row: Row) -> tuple[object, ...]:
    return (row["web"], *row["topics"], row["judge"], row["seed_set"], row["pages"])


def pairs_of(web: str, judges: Sequence[str], pages: int) -> list[Pair]:
    """Pair the test topics of a web in their order; of three topics, each with the next."""
    topics = split(web, "test")
    step = 1 if len(topics) < 2 * PAIRS[web] else 2
    chosen = [(topics[place % len(topics)], topics[(place + 1) % len(topics)]) for place in range(0, len(topics), step)]
    return [Pair(web=web, topics=each, judge=judge, pages=pages) for judge in judges for each in chosen[: PAIRS[web]]]


def found_pages(crawl: SimulatedCrawl, targets: Iterable[int]) -> set[int]:
    """Return the pages of a topic that a crawl fetched."""
    return {fetch.page_id for fetch in crawl.fetches} & set(targets)


def together(runner: TaskRunner, pair: Pair) -> SimulatedCrawl:
    """Crawl both topics at once."""
    tasks = {topic: pair.task(topic) for topic in pair.topics}
    seeds = {topic: runner.seeds(task) for topic, task in tasks.items()}
    starts = {topic: [runner.web.url_of(page) for page in pages] for topic, pages in seeds.items()}
    judge = topics_judge({topic: runner.judge(task, seeds[topic]) for topic, task in tasks.items()})
    strategies = {
        topic: registry.make("strategy", STRATEGY, {}, *runner.strategy_arguments(task))
        for topic, task in tasks.items()
    }
    strategy = TopicsStrategy(strategies, seeds={topic: frozenset(urls) for topic, urls in starts.items()})
    simulator = Simulator(runner.web, runner.pages, judge=judge, strategy=strategy)
    urls = list(dict.fromkeys(url for each in starts.values() for url in each))
    return asyncio.run(simulator.run(urls, pair.pages))


def alone(runner: TaskRunner, task: Task) -> SimulatedCrawl:
    """Crawl one topic."""
    seeds = runner.seeds(task)
    starts = [runner.web.url_of(page) for page in seeds]
    return asyncio.run(runner.simulator(task, seeds).run(starts, task.pages))


def run_pair(runner: TaskRunner, pair: Pair) -> Row:
    """Crawl a pair in both ways, and count."""
    started = time.process_time()
    targets = {topic: runner.web.targets(topic) for topic in pair.topics}
    joint = together(runner, pair)
    joint_pages = [found_pages(joint, targets[topic]) for topic in pair.topics]
    single = [alone(runner, pair.task(topic)) for topic in pair.topics]
    single_pages = [found_pages(crawl, targets[topic]) for crawl, topic in zip(single, pair.topics, strict=True)]
    return {
        **asdict(pair),
        "targets": [len(targets[topic]) for topic in pair.topics],
        "together": [len(pages) for pages in joint_pages],
        "together_both": len(joint_pages[0] | joint_pages[1]),
        "together_fetches": len(joint.fetches),
        "separately": [len(pages) for pages in single_pages],
        "separately_both": len(single_pages[0] | single_pages[1]),
        "separately_fetches": sum(len(crawl.fetches) for crawl in single),
        "seconds": round(time.process_time() - started, 1),
    }


def ratio(rows: Sequence[Row]) -> tuple[float, float, float]:
    """Return relevant pages per fetch together over separately, with a 95 % bootstrap interval over the pairs."""
    names = ("together_both", "together_fetches", "separately_both", "separately_fetches")
    counts = np.array([[row[name] for name in names] for row in rows], dtype=np.float64)
    sums = counts[np.random.default_rng(0).integers(len(rows), size=(RESAMPLES, len(rows)))].sum(axis=1)
    drawn = (sums[:, 0] / sums[:, 1]) / np.maximum(sums[:, 2] / sums[:, 3], 1e-9)
    total = counts.sum(axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return (total[0] / total[1]) / max(total[2] / total[3], 1e-9), float(low), float(high)


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the tables: all pairs of a web and judge, then each topic."""
    yield "| web | judge | pairs | together | separately | ratio [95 %] |"
    yield "|---|---|---|---|---|---|"
    groups = dict.fromkeys((row["web"], row["judge"]) for row in rows)
    for web, judge in groups:
        own = [row for row in rows if (row["web"], row["judge"]) == (web, judge)]
        both, one = sum(row["together_both"] for row in own), sum(row["separately_both"] for row in own)
        middle, low, high = ratio(own)
        yield f"| {web} | {judge} | {len(own)} | {both} | {one} | {middle:.3f} [{low:.3f}, {high:.3f}] |"
    yield from ("", "| web | judge | topic | beside | together | separately | ratio |", "|---|---|---|---|---|---|---|")
    for row in rows:
        for place, topic in enumerate(row["topics"]):
            both, one = row["together"][place], row["separately"][place]
            part = f"{both / one:.2f}" if one else "–"
            yield f"| {row['web']} | {row['judge']} | {topic} | {row['topics'][1 - place]} | {both} | {one} | {part} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webs", nargs="*", default=list(PAIRS), help="; ".join(PAIRS))
    parser.add_argument("--judges", default=",".join(JUDGES), help="separated by commas")
    parser.add_argument("--pages", type=int, default=PAGES, help="fetches of a pair")
    parser.add_argument("--pairs", type=int, help="at most this many new pairs per web")
    parser.add_argument("--rows", type=Path, default=ROWS, help="the file of rows")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    for web in [] if options.print else options.webs:
        known = {key_of(row) for row in read_rows(options.rows)}
        missing = [pair for pair in pairs_of(web, options.judges.split(","), options.pages) if pair.key not in known]
        runner = TaskRunner.open(web)
        for pair in missing[: options.pairs]:
            add_rows(options.rows, [row := run_pair(runner, pair)])
            print(f"{web} {pair.judge} {', '.join(pair.topics)}: {row['together_both']} / {row['separately_both']}")
        runner.flush()
    print("\n".join(tables(read_rows(options.rows))))


if __name__ == "__main__":
    main()
