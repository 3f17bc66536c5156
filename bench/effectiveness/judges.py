"""Which judge knows a topic best? ``python -m bench.effectiveness.judges`` (needs THRESHER_WEBS).

Part one, ranking: every judge is given a phrase and five seeds, reads the seeds, then 100 and 500 pages of a
breadth-first crawl from them, then gets 20 labels; each time it judges pages of the whole web. Average precision and
calibration error are taken over all targets and a sample of other pages that stands for all of them. Part two,
crawling: best-first with every judge, against the perfect one. Rows are added to bench/results/judges-*.jsonl as they
come; what is there is not run again.
"""

from __future__ import annotations

import argparse
import copy
import json
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score

from thresher import registry
from thresher.judges.base import Judge, Learner
from thresher.records import ParsedPage
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.tasks import PERFECT, Task, TaskRunner
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Score, compare_paired

RESULTS = Path(__file__).parents[1] / "results"
WEBS = {"wikispeedia": 20, "w3school_zh": 11, "mdn_zh": 8}
"""How many of the test topics are used, in the order of the draw."""
JUDGES: dict[str, tuple[str, dict[str, Any]]] = {
    "cosine": ("cosine", {}),
    "match": ("match", {}),
    "itfidf": ("itfidf", {}),
    "svm": ("svm", {}),
    "taxonomy": ("taxonomy", {}),
    "centroid": ("adaptive", {"kappa": 1e12, "agreement": 0.0}),
    "adaptive": ("adaptive", {}),
}
"""By the name in the tables; the centroid is the adaptive judge with what it learns from the crawl switched off."""
BACKGROUNDS = (0, 100, 500)
LABELS, BATCH, BEST_OF_BATCH = 20, 4, 2
OTHERS = 600
"""Pages off the topic that stand for all of them."""
SEEDS = 5


class Reader:
    """One web, read by judges."""

    def __init__(self, web: str) -> None:
        self.bench = TaskRunner.open(web)
        self.web = self.bench.web
        self._pages: dict[int, ParsedPage] = {}

    def page(self, number: int) -> ParsedPage:
        if number not in self._pages:
            found = self.bench.pages.get(self.web.url_of(number))
            assert found is not None
            self._pages[number] = replace(found[0], links=())  # reading needs none, and a web fits into memory
        return self._pages[number]

    def seeds(self, topic: str) -> list[int]:
        task = Task(web=self.web.name, topic=topic, strategy="best-first", seed_set=0, seeds=SEEDS)
        return self.bench.seeds(task)

    def breadth_first(self, seeds: Sequence[int], most: int) -> list[int]:
        """Return the pages that a breadth-first crawl meets first, without the seeds."""
        order, seen = list(seeds), set(seeds)
        for number in order:
            if len(order) >= most + len(seeds):
                break
            new = [target for target in dict.fromkeys(self.web.links_from(number)) if target not in seen]
            seen.update(new)
            order += new
        return order[len(seeds) : len(seeds) + most]

    def panel(self, topic: str, without: set[int]) -> tuple[list[int], list[bool], list[float]]:
        """Choose the pages to judge: all targets, and others that stand for the rest; with their weights."""
        targets = self.web.targets(topic)
        rest = [number for number in range(len(self.web)) if number not in targets and number not in without]
        others = Random(f"panel {topic}").sample(rest, min(OTHERS, len(rest)))
        on_topic = sorted(targets - without)
        pages = [*on_topic, *others]
        weights = [1.0] * len(on_topic) + [len(rest) / len(others)] * len(others)
        return pages, [True] * len(on_topic) + [False] * len(others), weights


def rank(reader: Reader, topic: str, name: str) -> Iterator[dict[str, Any]]:
    """Measure one judge on one topic at every background, then with labels."""
    seeds = reader.seeds(topic)
    kind, parameters = JUDGES[name]
    judge: Judge = registry.make("judge", kind, parameters, reader.bench.judge_profile(topic, seeds))
    crawled = reader.breadth_first(seeds, max(BACKGROUNDS))
    learned = 0
    if isinstance(judge, Learner):
        for seed in seeds:
            judge.learn(reader.page(seed), seed=True)
    base = {"web": reader.web.name, "topic": topic, "judge": name}
    for background in BACKGROUNDS:
        if isinstance(judge, Learner):
            for number in crawled[learned:background]:
                judge.learn(reader.page(number))
            learned = background
        yield {**base, "stage": str(background), **measure(reader, topic, judge, set(seeds))}
    if isinstance(judge, Learner):
        unlabelled = copy.deepcopy(judge)
        labelled = label(reader, topic, judge, crawled)
        yield {**base, "stage": "labels", **measure(reader, topic, judge, {*seeds, *labelled})}
        if (
            name == "adaptive"
        ):  # the labelled pages were the easy ones, so what labels are worth shows on the rest alone
            yield {**base, "stage": "no labels", **measure(reader, topic, unlabelled, {*seeds, *labelled})}


def label(reader: Reader, topic: str, judge: Learner, crawled: Sequence[int]) -> list[int]:
    """Answer for 20 crawled pages: in batches of 4, the best 2 and those nearest to one half."""
    targets, open_pages, labelled = reader.web.targets(topic), list(crawled), []
    for _ in range(LABELS // BATCH):
        worth = {number: judge.judge(reader.page(number)).relevance for number in open_pages}
        best = sorted(worth, key=lambda number: -worth[number])[:BEST_OF_BATCH]
        unsure = sorted(set(worth) - set(best), key=lambda number: abs(worth[number] - 0.5))[: BATCH - BEST_OF_BATCH]
        for number in (*best, *unsure):
            open_pages.remove(number)
            labelled.append(number)
        judge.teach({reader.web.url_of(number): number in targets for number in (*best, *unsure)})
    return labelled


def measure(reader: Reader, topic: str, judge: Judge, without: set[int]) -> dict[str, float]:
    pages, truth, weights = reader.panel(topic, without)
    judged = [judge.judge(reader.page(number)) for number in pages]
    chances = np.array([each.relevance for each in judged])
    return {
        "average_precision": float(average_precision_score(truth, chances, sample_weight=weights)),
        "calibration_error": calibration_error(chances, np.array(truth), np.array(weights)),
    }


def calibration_error(chances: np.ndarray, truth: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean distance of what was promised and what came true, over ten equal steps of probability."""
    steps = np.minimum((chances * 10).astype(int), 9)
    error = 0.0
    for step in range(10):
        inside = steps == step
        if inside.any():
            share = weights[inside] / weights[inside].sum()
            error += weights[inside].sum() / weights.sum() * abs(share @ chances[inside] - share @ truth[inside])
    return float(error)


_readers: dict[str, Reader] = {}


def _rank_one(web: str, topic: str, name: str) -> list[dict[str, Any]]:
    reader = _readers.get(web) or _readers.setdefault(web, Reader(web))
    return list(rank(reader, topic, name))


def run_ranking(side: str, judges: Sequence[str], processes: int, path: Path) -> list[dict[str, Any]]:
    rows = read_rows(path)
    done = {(row["web"], row["topic"], row["judge"]) for row in rows}
    wanted = [(web, topic, name) for web, most in WEBS.items() for topic in split(web, side)[:most] for name in judges]
    missing = [task for task in wanted if task not in done]
    context = multiprocessing.get_context("spawn")
    with path.open("a", encoding="utf-8") as file, ProcessPoolExecutor(processes, mp_context=context) as pool:
        for number, future in enumerate(as_completed([pool.submit(_rank_one, *task) for task in missing]), start=1):
            for row in future.result():
                rows.append(row)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            if number % 20 == 0:
                print(f"{number} of {len(missing)}", flush=True)
    return [row for row in rows if (row["web"], row["topic"], row["judge"]) in set(wanted)]


def run_crawls(side: str, judges: Sequence[str], processes: int, path: Path) -> list[dict[str, Any]]:
    plain = [PERFECT, *(name for name in judges if not JUDGES[name][1])]
    tasks = [
        Task(web=web, topic=topic, strategy="best-first", seed_set=0, judge=judge, seeds=SEEDS)
        for web, most in WEBS.items()
        for topic in split(web, side)[:most]
        for judge in plain
    ]
    rows = run_tasks(tasks, path, processes=processes, progress=lambda done, of: print(f"{done} of {of}", end="\r"))
    kept = ("web", "topic", "strategy", "seed_set", "judge", "pages", "seeds", "parameters", "targets", "area",
            "percent_of_oracle", "harvest_rate", "recall")  # fmt: skip
    return [{name: row[name] for name in kept} for row in rows]


def show(rows: Sequence[dict[str, Any]], metric: str, stage: str | None, languages: dict[str, str]) -> None:
    """Print means with intervals, and the difference of the adaptive judge to each."""
    for language in dict.fromkeys(languages.values()):
        scores = [
            Score(strategy=row["judge"], topic=f"{row['web']}/{row['topic']}", seed_set=0, value=row[metric])
            for row in rows
            if languages[row["web"]] == language and (stage is None or row["stage"] == stage)
        ]
        topics = {name: {s.topic for s in scores if s.strategy == name} for name in {s.strategy for s in scores}}
        shared = set.intersection(*topics.values())
        compared = compare_paired((score for score in scores if score.topic in shared), "adaptive")
        for each in sorted(compared, key=lambda each: -each.mean.mean):
            versus = each.difference
            print(
                f"{language:8} {metric:18} {stage or '':7} {each.strategy:10} {each.mean.mean:7.3f} "
                f"[{each.mean.low:.3f}, {each.mean.high:.3f}]  minus adaptive {versus.mean:+.3f} "
                f"[{versus.low:+.3f}, {versus.high:+.3f}]  ({len(shared)} topics)"
            )


def show_labels(rows: Sequence[dict[str, Any]]) -> None:
    """Print what labels changed on the pages that were not labelled."""
    staged = [row for row in rows if row["judge"] == "adaptive" and row["stage"] in ("labels", "no labels")]
    before = {(row["web"], row["topic"]) for row in staged if row["stage"] == "no labels"}
    scores = [
        Score(strategy=row["stage"], topic=row["topic"], seed_set=0, value=row["average_precision"])
        for row in staged
        if (row["web"], row["topic"]) in before
    ]
    for each in compare_paired(scores, "no labels") if scores else ():
        change = each.difference
        print(f"{each.strategy:10} {each.mean.mean:.3f}  {change.mean:+.3f} [{change.low:+.3f}, {change.high:+.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.judges", description="Which judge knows a topic best?"
    )
    parser.add_argument("--side", choices=["dev", "test"], default="test")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--part", choices=["ranking", "crawls"])
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    names = options.judges.split(",")
    by_web = {web: web for web in WEBS}
    by_language = {"wikispeedia": "English", "w3school_zh": "Chinese", "mdn_zh": "Chinese"}
    if options.part != "crawls":
        rows = run_ranking(options.side, names, options.processes, RESULTS / f"judges-ranking-{options.side}.jsonl")
        for stage in (*map(str, BACKGROUNDS), "labels"):
            for metric in ("average_precision", "calibration_error"):
                show(rows, metric, stage, by_language)
        show_labels(rows)
    if options.part != "ranking":
        rows = run_crawls(options.side, names, options.processes, RESULTS / f"judges-crawls-{options.side}.jsonl")
        for metric in ("percent_of_oracle", "area"):
            show(rows, metric, None, by_web)


if __name__ == "__main__":
    main()
