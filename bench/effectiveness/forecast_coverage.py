"""Does the forecast cover the truth? ``python -m bench.effectiveness.forecast_coverage`` (needs THRESHER_WEBS).

    --crawl dev       crawl dev topics; write what was known and what was true at some moments to results/
    --compare         what can be forecast from what: coverage on dev topics and on webs that were left out of the fit
    --fit             fit the coefficients on dev topics and write them to learned/forecast.json
    --crawl test      the same crawls on test topics: once, when nothing is changed any more; with --after 8 on topics
                      after the first eight of each web, for a check on topics that no choice rests on
    --print test      coverage and width of the forecast per web, judge and size of the crawl

*waiting* is the number of labelled pages among the URLs that wait, *reachable* that of all labelled pages that links
lead to, inside the scope, and that are not fetched.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import thresher.strategies.link_model
from thresher.cli.output import echo, echo_table
from thresher.feedback.forecast import KIND
from thresher.frontier.base import CRAWL_WIDE
from thresher.strategies.link_model.strategy import MIN_PAGES, LinkModelStrategy, forecast
from thresher_lab.simulation.simulator import Simulator, rules_of
from thresher_lab.simulation.tasks import PERFECT, Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.webs.generator import generate
from thresher_lab.webs.vocabulary import TOPICS

RESULTS = Path(__file__).parents[1] / "results"
COEFFICIENTS = Path(thresher.strategies.link_model.__file__).parent / "forecast.json"
MOMENTS = (100, 200, 300, 500, 700, 1000)
GENERATED, LARGE = "generated", "generated-large"
WALKED = 20_000
"""Larger webs are not walked through for what is reachable."""
TOPICS_OF = {"w3school_zh": 4, GENERATED: 4, LARGE: 1, "mdn_zh": 4, "nankai_zh": 4, "webkb": 3, "wikispeedia": 5}
"""Webs, and how many of their topics are crawled."""
SEED_SETS = {"webkb": 2}
SEEDS = (5, 2, 1, 3)
"""A topic starts from one of these numbers of seeds."""
QUANTILES = {"least": 0.05, "most": 0.95}
COVERED = 0.97
"""Coverage on dev topics, per judge on each web and at each size, that the interval is widened to; it promises 90 %."""
MARGIN = 0.25
"""Added to the upper end of the product, as a logarithm: the first fit covered two webs of the test in 80 % only."""
SETS = {
    "harvest, waiting URLs": ("harvest", "urls"),
    "harvest": ("harvest",),
    "sum of scores": ("scores",),
    "harvest, linked by relevant": ("harvest", "linked"),
    "found, harvest": ("found", "harvest"),
    "found, harvest, Chao": ("found", "harvest", "chao"),
    "found, harvest, unseen hosts": ("found", "harvest", "unseen_hosts"),
}
"""What an interval may be computed from."""


def file_of(side: str) -> Path:
    """Return where the moments of a side are kept."""
    return RESULTS / f"forecast-{side}.jsonl"


def benches(side: str, webs: Sequence[str], after: int) -> Iterator[tuple[str, TaskRunner, str, int, int]]:
    """Yield every crawl: the web's name, the web, a topic, its number and a set of seeds; webs take turns."""
    opened = {web: TaskRunner.open(web) for web in webs if web not in (GENERATED, LARGE)}
    listed = [
        [
            (web, opened[web], topic, place, seed_set)
            for seed_set in range(SEED_SETS.get(web, 1))
            for place, topic in topics
        ]
        for web in opened
        for topics in [list(enumerate(split(web, side)))[after : after + TOPICS_OF[web]]]  # type: ignore[arg-type]
    ]
    first_seed = 0 if side == "dev" else 1000
    listed += [list(_generated(first_seed, after))] * (GENERATED in webs)
    listed += [list(_large(first_seed))] * (LARGE in webs)
    for turn in range(max(map(len, listed))):
        yield from (crawls[turn] for crawls in listed if turn < len(crawls))


def _generated(first_seed: int, after: int) -> Iterator[tuple[str, TaskRunner, str, int, int]]:
    """Plan webs of different size, language and locality, with topics of different shares."""
    for place in range(after, after + TOPICS_OF[GENERATED]):
        topics = tuple(TOPICS)[place % 5 : place % 5 + (1, 2, 4, 8)[place % 4]]
        web = generate(
            first_seed + place,
            pages=(1500, 4000, 10_000, 3000)[(place // 2) % 4],
            hosts=(10, 40, 100)[place % 3],
            topics=topics,
            languages=(("en",), ("zh",), ("en", "zh"))[place % 3],
            locality=(0.4, 0.6, 0.8)[place % 3],
            page_bytes=3000,
        )
        yield GENERATED, TaskRunner(web), topics[0], place, 0


def _large(first_seed: int) -> Iterator[tuple[str, TaskRunner, str, int, int]]:
    """Plan webs with many links, on which tens of thousands of URLs wait."""
    for place in range(TOPICS_OF[LARGE]):
        topics = tuple(TOPICS)[place : place + 6]
        web = generate(first_seed + 100 + place, pages=200_000, hosts=1000, topics=topics, links_per_page=80)
        yield LARGE, TaskRunner(web), topics[-1], place, 0


def reachable(bench: TaskRunner, seeds: Sequence[int]) -> set[int] | None:
    """Return all pages that links lead to from the seeds, inside the scope; None on a web that is too large."""
    if len(bench.web) > WALKED:
        return None
    scope, found, queue = rules_of(bench.web).scope, set(seeds), list(seeds)
    while queue:
        for page in bench.web.links_from(queue.pop()):
            if page not in found and not scope.allows(bench.web.url_of(page), 0):
                found.add(page)
                queue.append(page)
    return found


async def crawl(bench: TaskRunner, task: Task) -> list[Row]:
    """Crawl a topic; return what was known and what was true at each moment."""
    seeds, targets = bench.seeds(task), bench.web.targets(task.topic)
    strategy = LinkModelStrategy(*bench.strategy_arguments(task))
    simulator = Simulator(bench.web, bench.pages, judge=bench.judge(task, seeds), strategy=strategy)
    found, rows, fetched = reachable(bench, seeds), list[Row](), list[int]()
    starts = [bench.web.url_of(seed) for seed in seeds]
    for moment in MOMENTS:
        part = await simulator.run(starts, moment - len(fetched))
        starts, fetched = [], fetched + [fetch.page_id for fetch in part.fetches]
        known = await _known(simulator, strategy)
        waiting = {bench.web.page_id(url) for url in known.pop("waiting")}
        truth = {"waiting": len(waiting & targets), "reachable": found and len((targets & found) - set(fetched))}
        rows.append({"size": moment, **truth, "hits": len(targets.intersection(fetched)), **known})
        if len(fetched) < moment:
            break
    return rows


async def _known(simulator: Simulator, strategy: LinkModelStrategy) -> Row:
    """Return what an estimator may use; the harvest as the product has it."""
    frontier, links = simulator._frontier, strategy._links
    counts, entries = await frontier.counts(), await frontier.peek(1_000_000)
    latest = json.loads(await frontier.get_state(CRAWL_WIDE, KIND) or '{"latest": []}')["latest"]
    urls = links.urls
    relevant = (urls["relevance"] * urls["fetched"]) >= 0.5
    linked = np.bincount(links.links["url"], relevant[links.links["page"]], minlength=urls.size)
    hosts, is_done = urls["places"][:, 1], urls["fetched"]
    times = Counter(linked[relevant].tolist())
    return {
        "waiting": [entry.url for entry in entries],
        "pages": counts.pages,
        "urls": counts.waiting,
        "found": counts.relevant,
        "harvest": round(sum(latest), 3),
        "scores": round(sum(entry.score for entry in entries), 2),
        "linked": int(np.count_nonzero(linked[~is_done])),
        "unseen_hosts": int(np.count_nonzero(~np.isin(hosts[~is_done], hosts[is_done]))),
        "chao": times[1] ** 2 / (2 * max(times[2], 1)),
    }


def crawl_all(side: str, webs: Sequence[str], judges: Sequence[str], after: int) -> None:
    """Make all crawls of a side that are not in its file yet."""
    done = {(row["web"], row["judge"], row["topic"], row["seed_set"]) for row in read_rows(file_of(side))}
    for judge in judges:
        for web, bench, topic, place, seed_set in benches(side, webs, after):
            name = f"{topic} {place}" if web in (GENERATED, LARGE) else topic
            if (web, judge, name, seed_set) in done:
                continue
            started, seeds = time.monotonic(), SEEDS[(place + seed_set) % len(SEEDS)]
            task = Task(
                web=bench.web.name, topic=topic, strategy="thresher", seed_set=seed_set, judge=judge, seeds=seeds
            )
            rows = asyncio.run(crawl(bench, task))
            head = {"web": web, "judge": judge, "topic": name, "seed_set": seed_set, "seeds": seeds}
            add_rows(file_of(side), ({**head, **row} for row in rows))
            bench.flush()
            echo(f"{judge} {web} {name}: {len(rows)} moments in {time.monotonic() - started:.0f} s")


class Rows:
    """Moments from 200 pages on, in columns."""

    def __init__(self, rows: Sequence[Row], truth: str = "waiting") -> None:
        self.rows = [row for row in rows if row["size"] >= MIN_PAGES and row[truth] is not None]
        self.truth = np.array([row[truth] for row in self.rows], dtype=float)
        self.webs = np.array([row["web"] for row in self.rows])
        self.sizes = np.array([row["size"] for row in self.rows])
        self.judges = np.array([row["judge"] for row in self.rows])
        self.topics = np.array([f"{row['web']} {row['topic']}" for row in self.rows])
        topics = {web: len(set(self.topics[self.webs == web])) for web in set(self.webs)}
        moments = Counter(self.topics)
        weights = [1 / topics[web] / moments[topic] for web, topic in zip(self.webs, self.topics, strict=True)]
        self.weights = np.array(weights) / np.mean(weights)  # webs weigh alike, and so do the topics of a web

    def x(self, names: Sequence[str]) -> np.ndarray:
        """Return logarithms of some columns, after a column of ones."""
        return np.array([[1.0, *(np.log1p(max(0.0, row[name])) for name in names)] for row in self.rows])

    def groups(self) -> list[np.ndarray]:
        """Return the rows of each web and of each size, apart for each judge."""
        parts = [*((self.webs == web) for web in set(self.webs)), *((self.sizes == size) for size in set(self.sizes))]
        return [part & (self.judges == judge) for part in parts for judge in set(self.judges)]


def fitted(rows: Rows, names: Sequence[str], some: np.ndarray) -> dict[str, np.ndarray]:
    """Fit both ends to some rows, and move them outwards until each web and each size is covered."""
    from sklearn.linear_model import QuantileRegressor

    x, y, ends = rows.x(names), np.log1p(rows.truth), {}
    for end, quantile in QUANTILES.items():
        model = QuantileRegressor(quantile=quantile, alpha=0.002, solver="highs")
        model.fit(x[some][:, 1:], y[some], sample_weight=rows.weights[some])
        ends[end] = np.array([model.intercept_, *model.coef_])
    outside = np.maximum(np.maximum(x @ ends["least"], 0.0) - y, y - x @ ends["most"])
    groups = [group & some for group in rows.groups() if (group & some).any()]
    wider = max(0.0, *(float(np.quantile(outside[group], COVERED, method="higher")) for group in groups))
    ends["least"][0] -= wider
    ends["most"][0] += wider
    return ends


def compare() -> None:
    """Print the coverage of every set of figures, on topics and on webs that were left out of the fit."""
    table = []
    for truth in ("waiting", "reachable"):
        rows = Rows(read_rows(file_of("dev")), truth)
        for title, names in SETS.items():
            x, line = rows.x(names), [truth, title]
            for held_out in (rows.topics, rows.webs):
                covered, width = np.zeros(len(rows.rows), dtype=bool), np.zeros(len(rows.rows))
                for part in set(held_out):
                    ends = fitted(rows, names, held_out != part)
                    least, most = (np.expm1(np.maximum(0.0, x @ ends[end])) for end in QUANTILES)
                    here = held_out == part
                    covered[here] = ((np.floor(least) <= rows.truth) & (rows.truth <= np.ceil(most)))[here]
                    width[here] = (np.ceil(most) - np.floor(least))[here]
                webs = [float(covered[rows.webs == web].mean()) for web in sorted(set(rows.webs))]
                line += [round(float(covered.mean()), 2), round(min(webs), 2), round(float(np.median(width)))]
            table.append(line)
    echo_table(["truth", "from", "topic out", "worst web", "width", "web out", "worst web", "width"], table)


def fit() -> None:
    """Fit the coefficients of the product, and write them down."""
    rows = Rows(read_rows(file_of("dev")))
    ends = fitted(rows, SETS["harvest"], np.ones(len(rows.rows), dtype=bool))
    ends["most"][0] += MARGIN
    content = {end: [round(float(value), 4) + 0.0 for value in values] for end, values in ends.items()}
    COEFFICIENTS.write_text(json.dumps(content) + "\n", encoding="utf-8")
    echo(f"{COEFFICIENTS.name}: {content}")


def show(side: str) -> None:
    """Print how often the product's forecast covers the truth, and how wide it is."""
    table: list[list[Any]] = []
    rows = [row for row in read_rows(file_of(side)) if row["size"] >= MIN_PAGES and row["urls"]]
    groups = {(row["judge"], row["web"]) for row in rows} | {(row["judge"], "all webs") for row in rows}
    for judge, web in sorted(groups):
        line: list[Any] = [judge, web]
        for size in (*MOMENTS[1:], None):
            some = [
                row
                for row in rows
                if row["judge"] == judge and web in (row["web"], "all webs") and size in (row["size"], None)
            ]
            line.append(_covered(some))
        table.append(line)
    echo_table(["judge", "web", *map(str, MOMENTS[1:]), "all"], table)


def _covered(rows: Sequence[Row]) -> str:
    """Write the covered and all moments, and the medians of both ends and of the truth."""
    found = [forecast(pages=row["size"], harvest=row["harvest"], waiting=row["urls"]) for row in rows]
    inside = [each.least <= row["waiting"] <= each.most for each, row in zip(found, rows, strict=True) if each]
    if not inside:
        return "–"
    least, most = np.median([[each.least, each.most] for each in found if each], axis=0)
    return f"{sum(inside)}/{len(inside)} ({least:.0f}-{most:.0f}; {np.median([row['waiting'] for row in rows]):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crawl", choices=["dev", "test"])
    parser.add_argument("--webs", default=",".join(TOPICS_OF))
    parser.add_argument("--judges", default=f"{PERFECT},adaptive")
    parser.add_argument("--after", type=int, default=0, help="topics of each web that are left out, from the first")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--print", choices=["dev", "test"], dest="shown")
    options = parser.parse_args()
    if options.crawl:
        crawl_all(options.crawl, options.webs.split(","), options.judges.split(","), options.after)
    if options.compare:
        compare()
    if options.fit:
        fit()
    if options.shown:
        show(options.shown)


if __name__ == "__main__":
    main()
