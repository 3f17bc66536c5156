"""How many waiting URLs need a new score, and how often? ``python -m bench.effectiveness.rescoring``.

34 dev topics of four webs with the default judge, 3 seeds, 300 fetches (needs THRESHER_WEBS; a quarter of an hour on 2
cores). Each variant rescores fewer URLs, or less often, and is compared with 1,000 URLs and rescoring after each of the
first 60 pages. Rows are added to ``bench/results/rescoring.jsonl`` as they come; what is there is not run again, and
``--print`` only prints it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from thresher.cli.output import echo, echo_table
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.tasks import Task
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Score, compare_paired

WEBS = {"wikispeedia": 16, "archipelago": 12, "mdn_zh": 4, "webkb": 2}
"""How many dev topics of each."""
PAGES, SEEDS, SEED_SET = 300, 3, 1
MEASURES = {"percent_of_oracle": "% of oracle", "percent_of_oracle_60": "% in first 60"}
BEFORE = {"sweep_urls": 1000, "early_pages": 60}
VARIANTS: list[dict[str, Any]] = [
    {"sweep_urls": 500, "early_pages": 60},
    {"sweep_urls": 300, "early_pages": 60},
    {"sweep_urls": 300, "early_pages": 30},
]
RESULTS = Path(__file__).parents[1] / "results" / "rescoring.jsonl"


def tasks(web: str) -> list[Task]:
    """List the crawls of a web."""
    return [
        Task(
            web=web, topic=topic, strategy="thresher", judge="adaptive", seed_set=SEED_SET, pages=PAGES, seeds=SEEDS,
            parameters=parameters,
        )
        for topic in split(web, "dev")[: WEBS[web]]
        for parameters in (BEFORE, *VARIANTS)
    ]  # fmt: skip


def name_of(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in parameters.items())


def print_web(web: str) -> None:
    """Print what each variant finds on a web, and its paired difference."""
    rows = [row for row in read_rows(RESULTS) if row["web"] == web]
    for measure, title in MEASURES.items():
        scores = [
            Score(strategy=name_of(row["parameters"]), topic=row["topic"], seed_set=row["seed_set"], value=row[measure])
            for row in rows
        ]
        lines = [
            [each.strategy, f"{each.mean.mean:.1f}",
             f"{each.difference.mean:+.1f} [{each.difference.low:+.1f}, {each.difference.high:+.1f}]"]
            for each in compare_paired(scores, name_of(BEFORE))
        ]  # fmt: skip
        echo_table([f"{web}, {title}", "mean", "difference"], lines)
        echo("")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    for web in WEBS:
        if not options.print:
            run_tasks(
                tasks(web), RESULTS, processes=options.processes, progress=lambda done, all_: echo(f"{done}/{all_}")
            )
        print_web(web)


if __name__ == "__main__":
    main()
