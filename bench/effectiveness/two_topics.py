"""Two topics in one crawl against two crawls: ``python -m bench.effectiveness.two_topics`` (needs THRESHER_WEBS).

Pairs of test topics. One crawl of both topics makes N fetches; two crawls of one topic each make N/2, from the same
seeds. Counted are the relevant pages of each topic, and those of both with a page of two topics counted once. A crawl
of one topic finds pages of its own topic only: what it fetches of the other one would not be known as such.

The two crawls are continued to N fetches each, for a bound in hindsight: the best that any division of N fetches
between them finds, and the best of those that leave each topic 0.9 times what N/2 fetches find. A crawl of both topics
exceeds the first only by what the topics share.

Rows are added to ``bench/results/two-topics.jsonl`` as they come; what is there is not run again. ``--print`` prints
the ratios of what is there, with 95 % bootstrap intervals over the pairs. ``--side dev`` takes dev topics, on which
`MultiTopicStrategy`'s balance was chosen.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from thresher import registry
from thresher.feedback.forecast import read_forecast
from thresher.judges.topics import topics_judge
from thresher.strategies.topics import BALANCE, MultiTopicStrategy
from thresher_lab.simulation.simulator import SimulatedCrawl, SimulatedFetch, Simulator
from thresher_lab.simulation.tasks import PERFECT, Task, TaskRunner
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.webs.virtualweb import Web

ROWS = Path(__file__).parents[1] / "results" / "two-topics.jsonl"
STRATEGY = "thresher"
JUDGES = (PERFECT, "adaptive")
PAIRS = {"wikispeedia": 20, "webkb": 3, "mdn_zh": 4}
"""Pairs per web; the third topic of webkb makes a pair with each of the others."""
PAGES, SEEDS = 600, 5
MIN_SHARE = 0.9
"""What each topic is to have of the pages of its own crawl."""
FORECAST_FETCHES = 100
"""Fetches between two moments at which forecasts are compared with the truth."""
RESAMPLES = 2_000


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two topics that are crawled together and one after the other."""

    web: str
    topics: tuple[str, str]
    judge: str
    seed_set: int = 0
    pages: int = PAGES
    balance: float = BALANCE

    @property
    def key(self) -> tuple[object, ...]:
        return key_of(asdict(self))

    def task(self, topic: str) -> Task:
        """Return the crawl of one of the topics."""
        return Task(
            web=self.web,
            topic=topic,
            strategy=STRATEGY,
            seed_set=self.seed_set,
            judge=self.judge,
            pages=self.pages,
            seeds=SEEDS,
        )


def key_of(row: Row) -> tuple[object, ...]:
    return (row["web"], *row["topics"], row["judge"], row["seed_set"], row["pages"], row["balance"])


def pairs_of(web: str, side: Side, judge: str, pages: int, balance: float) -> list[Pair]:
    """Pair the topics of a web in their order; of three topics, each with the next."""
    topics = split(web, side)
    others = topics[1:] + topics[:1]
    chosen = list(zip(topics, others, strict=True))
    chosen = chosen if len(topics) == 3 else chosen[: len(topics) - 1 : 2]
    return [Pair(web=web, topics=each, judge=judge, pages=pages, balance=balance) for each in chosen[: PAIRS[web]]]


def hits(crawl: SimulatedCrawl, targets: AbstractSet[int]) -> list[int | None]:
    """Return the page of each fetch if it is one of the targets, else None."""
    return [fetch.page_id if fetch.page_id in targets else None for fetch in crawl.fetches]


def pages_in(found: Sequence[int | None]) -> set[int]:
    return {page for page in found if page is not None}


def best_division(
    first: Sequence[int | None], second: Sequence[int | None], fetches: int, *, least: tuple[float, float] = (0, 0)
) -> int:
    """Return the most pages that a division of the fetches between two crawls finds, a page of both counted once.

    Args:
        first: The hits of the first crawl.
        second: The hits of the second.
        fetches: Of both together.
        least: Pages that each crawl must find.
    """
    most = 0
    for place in range(fetches + 1):
        one, other = pages_in(first[:place]), pages_in(second[: fetches - place])
        if len(one) >= least[0] and len(other) >= least[1]:
            most = max(most, len(one | other))
    return most


def together(runner: TaskRunner, pair: Pair) -> tuple[SimulatedCrawl, list[Row]]:
    """Crawl both topics at once; return the crawl, and the forecasts of some moments with the truth."""
    tasks = {topic: pair.task(topic) for topic in pair.topics}
    seeds = {topic: runner.seeds(task) for topic, task in tasks.items()}
    starts = {topic: [runner.web.url_of(page) for page in pages] for topic, pages in seeds.items()}
    judge = topics_judge({topic: runner.judge(task, seeds[topic]) for topic, task in tasks.items()})
    strategies = {
        topic: registry.make("strategy", STRATEGY, {}, *runner.strategy_arguments(task))
        for topic, task in tasks.items()
    }
    owned = {topic: frozenset(urls) for topic, urls in starts.items()}
    strategy = MultiTopicStrategy(strategies, seeds=owned, balance=pair.balance)
    simulator = Simulator(runner.web, runner.pages, judge=judge, strategy=strategy)
    urls = list(dict.fromkeys(url for each in starts.values() for url in each))
    return asyncio.run(with_forecasts(simulator, runner.web, urls, pair))


async def with_forecasts(
    simulator: Simulator, web: Web, starts: Sequence[str], pair: Pair
) -> tuple[SimulatedCrawl, list[Row]]:
    """Run a crawl of several topics; note every `FORECAST_FETCHES` fetches what is forecast and what is true."""
    frontier, forecasts, fetches = simulator._frontier, list[Row](), list[SimulatedFetch]()
    while len(fetches) < pair.pages:
        part = await simulator.run(starts, min(FORECAST_FETCHES, pair.pages - len(fetches)))
        starts, fetches = [], [*fetches, *part.fetches]
        number = await frontier.counts()
        waiting = {web.page_id(entry.url) for entry in await frontier.peek(number.waiting)}
        for topic in pair.topics:
            if ahead := await read_forecast(frontier, number, topic):
                truth = len(waiting & web.targets(topic))
                forecasts.append({"topic": topic, "least": ahead.least, "most": ahead.most, "waiting": truth})
        if not part.fetches:
            break
    return replace(part, fetches=fetches), forecasts


def alone(runner: TaskRunner, task: Task) -> SimulatedCrawl:
    """Crawl one topic."""
    seeds = runner.seeds(task)
    starts = [runner.web.url_of(page) for page in seeds]
    return asyncio.run(runner.simulator(task, seeds).run(starts, task.pages))


def run_pair(runner: TaskRunner, pair: Pair) -> Row:
    """Crawl a pair in both ways, and count."""
    started = time.process_time()
    targets = [runner.web.targets(topic) for topic in pair.topics]
    joint, forecasts = together(runner, pair)
    single = [alone(runner, pair.task(topic)) for topic in pair.topics]
    return {
        **asdict(pair),
        "targets": [len(each) for each in targets],
        **counts(joint, single, targets, pair.pages),
        "forecasts": forecasts,
        "seconds": round(time.process_time() - started, 1),
    }


def counts(
    joint: SimulatedCrawl, single: Sequence[SimulatedCrawl], targets: Sequence[AbstractSet[int]], pages: int
) -> Row:
    """Count what a crawl of both topics found, and what the crawls of each found with half of the fetches."""
    of_joint = [pages_in(hits(joint, each)) for each in targets]
    first, second = (hits(crawl, each) for crawl, each in zip(single, targets, strict=True))
    halves = [pages_in(each[: pages // 2]) for each in (first, second)]
    least = MIN_SHARE * len(halves[0]), MIN_SHARE * len(halves[1])
    return {
        "together": [len(each) for each in of_joint],
        "together_both": len(of_joint[0] | of_joint[1]),
        "together_fetches": len(joint.fetches),
        "separately": [len(each) for each in halves],
        "separately_both": len(halves[0] | halves[1]),
        "separately_fetches": sum(min(len(crawl.fetches), pages // 2) for crawl in single),
        "best_division": best_division(first, second, pages),
        "best_fair_division": best_division(first, second, pages, least=least),
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
    yield (
        "| web | judge | balance | pairs | together | separately | ratio [95 %] "
        "| best division | with 0.9 of each | topics below 0.9 | forecasts that held |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    groups = dict.fromkeys((row["web"], row["judge"], row["balance"]) for row in rows)
    for web, judge, balance in groups:
        yield _group_line([row for row in rows if (row["web"], row["judge"], row["balance"]) == (web, judge, balance)])
    yield from ("", "| web | judge | balance | topic | beside | together | separately | ratio |")
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        for place, topic in enumerate(row["topics"]):
            both, one = row["together"][place], row["separately"][place]
            part = f"{both / one:.2f}" if one else "–"
            start = f"| {row['web']} | {row['judge']} | {row['balance']} | {topic} | {row['topics'][1 - place]}"
            yield f"{start} | {both} | {one} | {part} |"


def _group_line(rows: Sequence[Row]) -> str:
    both, one = sum(row["together_both"] for row in rows), sum(row["separately_both"] for row in rows)
    middle, low, high = ratio(rows)
    bounds = [sum(row[name] for row in rows) / max(one, 1) for name in ("best_division", "best_fair_division")]
    parts = [pair for row in rows for pair in zip(row["together"], row["separately"], strict=True)]
    forecasts = [each for row in rows for each in row["forecasts"]]
    held = sum(each["least"] <= each["waiting"] <= each["most"] for each in forecasts)
    below = sum(found < MIN_SHARE * alone_found for found, alone_found in parts)
    cells = [
        *(rows[0][name] for name in ("web", "judge", "balance")),
        *(len(rows), both, one, f"{middle:.3f} [{low:.3f}, {high:.3f}]", f"{bounds[0]:.3f}", f"{bounds[1]:.3f}"),
        *(f"{below} of {len(parts)}", f"{held} of {len(forecasts)}"),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("webs", nargs="*", default=list(PAIRS), help="; ".join(PAIRS))
    parser.add_argument("--side", choices=("dev", "test"), default="test", help="the topics")
    parser.add_argument("--judges", default=",".join(JUDGES), help="separated by commas")
    parser.add_argument("--pages", type=int, default=PAGES, help="fetches of a pair")
    parser.add_argument("--balance", type=float, default=BALANCE, help="of the topics; 0 for none")
    parser.add_argument("--pairs", type=int, help="at most this many pairs per web and judge")
    parser.add_argument("--rows", type=Path, default=ROWS, help="the file of rows")
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    for web in [] if options.print else options.webs:
        run_web(web, options)
    print("\n".join(tables(read_rows(options.rows))))


def run_web(web: str, options: argparse.Namespace) -> None:
    """Run the pairs of a web that have no row yet."""
    known = {key_of(row) for row in read_rows(options.rows)}
    runner = TaskRunner.open(web)
    for judge in options.judges.split(","):
        pairs = pairs_of(web, options.side, judge, options.pages, options.balance)
        for pair in pairs[: options.pairs]:
            if pair.key not in known:
                add_rows(options.rows, [row := run_pair(runner, pair)])
                found = f"{row['together_both']} / {row['separately_both']}"
                print(f"{web} {pair.judge} {', '.join(pair.topics)}: {found}, {row['seconds']} s", flush=True)
    runner.flush()


if __name__ == "__main__":
    main()
