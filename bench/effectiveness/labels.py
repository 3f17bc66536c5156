"""What are 20 labels worth?

``python -m bench.effectiveness.labels`` (needs THRESHER_WEBS; about 20 minutes on one core).

Crawls of 100 pages stop, a person who knows the truth answers 20 questions, and they go on to 300 pages: about pages
that the crawl itself chose (5 at a time, thinking again in between), about random ones of those crawled, or about none;
and about all of the 100, which bounds what any choice of 20 could be worth to the rest of the crawl.
Test topics alone. Measured is the average precision of the judge over all pages of the web but the seeds and those
that any arm asked about, right after the answers and in the end; and the area under the hits of the last 200 pages per
area of an oracle that goes on from the same 100 pages. Rows are added to bench/results/labels-*.jsonl as they come;
what is there is not run again, and ``--print`` only prints it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.effectiveness.judging_once import JudgingOnce
from thresher_lab.simulation.labelling import ARMS, LabelledCrawl, LabellingSchedule, PageCache, compared
from thresher_lab.simulation.tasks import Task, TaskRunner
from thresher_lab.simulation.topic_splits import Side, split
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Score, compare_paired

RESULTS = Path(__file__).parents[1] / "results"
WEBS = {"wikispeedia": 20, "w3school_zh": 11}
"""How many of the test topics are used, in the order of the draw."""
BASELINES = ("none", "random")
MEASURES = {
    "average_precision": "average precision right after",
    "average_precision_of_new_pages": "… over pages not crawled yet",
    "average_precision_in_the_end": "average precision in the end",
    "percent_of_oracle": "% of oracle of the rest",
    "hits": "relevant pages of the rest",
}
SEEDS = 5

Row = dict[str, Any]


def measure(bench: TaskRunner, page_cache: PageCache, topic: str) -> Iterator[Row]:
    """Run all arms of one topic."""
    task = Task(web=bench.web.name, topic=topic, strategy="thresher", seed_set=0, judge="adaptive", seeds=SEEDS)
    arms = {}
    for name, ask in ARMS.items():
        judge = JudgingOnce(bench.judge_profile(topic, bench.seeds(task)))
        crawl = LabelledCrawl(bench, task, judge=judge, page_cache=page_cache, course=LabellingSchedule())
        arms[name] = asyncio.run(crawl.run(ask))
    for name, measured in compared(bench, task, arms).items():
        yield {"web": task.web, "topic": topic, "arm": name, **measured}


def run(web: str, topics: Sequence[str], path: Path) -> None:
    """Run what is missing."""
    done = {row["topic"] for row in read_rows(path)}
    missing = [topic for topic in topics if topic not in done]
    if not missing:
        return
    bench = TaskRunner.open(web)
    page_cache = PageCache(bench)
    for number, topic in enumerate(missing, start=1):
        rows = list(measure(bench, page_cache, topic))
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        print(f"{web}: {number} of {len(missing)}", flush=True)


def show(rows: Sequence[Row], measures: Mapping[str, str], baselines: Sequence[str]) -> None:
    """Print means and differences with their intervals, paired by topic; the first baseline must have a value."""
    for name, title in measures.items():
        lacking = {row["topic"] for row in rows if row["arm"] == baselines[0] and row[name] is None}  # nothing left
        scores = [
            Score(strategy=row["arm"], topic=row["topic"], seed_set=0, value=row[name])
            for row in rows
            if row["topic"] not in lacking and row[name] is not None
        ]
        print(f"{title} ({len({score.topic for score in scores})} topics)")
        for baseline in baselines:
            values = [score.value for score in scores if score.strategy == baseline]
            print(f"    {baseline:18} {sum(values) / len(values):7.3f}")
            for each in compare_paired(scores, baseline):
                if each.strategy != baseline:
                    change = each.difference
                    print(
                        f"    {each.strategy:18} {each.mean.mean:7.3f}  minus {baseline} {change.mean:+.3f} "
                        f"[{change.low:+.3f}, {change.high:+.3f}]  {each.wins} better, {each.losses} worse"
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.effectiveness.labels", description="What are 20 labels worth?"
    )
    parser.add_argument("--web", choices=list(WEBS), action="append")
    parser.add_argument("--print", action="store_true", help="print what is there")
    parser.add_argument("--side", choices=["dev", "test"], default="test")
    options = parser.parse_args()
    for web in options.web or WEBS:
        side: Side = options.side
        path = RESULTS / f"labels-{web}{'' if side == 'test' else '-dev'}.jsonl"
        topics = split(web, side)[: WEBS[web]]
        if not options.print:
            run(web, topics, path)
        if rows := [row for row in read_rows(path) if row["topic"] in topics]:
            print(f"\n{web}, {side} topics")
            show(rows, MEASURES, BASELINES)


if __name__ == "__main__":
    main()
