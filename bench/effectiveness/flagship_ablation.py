"""What is each part of ``strategy: thresher`` worth? ``python -m bench.effectiveness.flagship_ablation`` (needs
THRESHER_WEBS).

Dev topics, true labels, one seed set that nothing was learned from. Parts are taken away one at a time; where features
go, the crawl starts from a net that was taught without them. *Feature oracle* starts from a net half of whose lessons
were what waited in an earlier crawl of the very same topic, with true labels: what it gains, better learning could
gain; what is missing to the oracle then, only better features can.

Needs the examples of ``bench.effectiveness.flagship_prior``. Rows are added to
``bench/results/flagship-ablation.jsonl``.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.effectiveness.flagship_prior import WEBS, Examples, kept, learned, written
from bench.effectiveness.listwise import Teaching
from thresher.cli.output import echo_table
from thresher.strategies.link_model.model import GROUPS
from thresher_lab.simulation.compare import run_tasks
from thresher_lab.simulation.tasks import PERFECT, Task
from thresher_lab.simulation.topic_splits import split
from thresher_lab.statistics.result_rows import read_rows
from thresher_lab.statistics.significance import Score, compare_paired

WHOLE, FEATURE_ORACLE = "all of it", "feature oracle"
SEED_SET, PAGES = 1, 300
RESULTS = Path(__file__).parents[1] / "results" / "flagship-ablation.jsonl"
NEVER = 10**9
SETTINGS = {
    WHOLE: {},
    "waiting URLs keep their first score": {"sweep_pages": NEVER},
    "waiting URLs are scored again every 25 pages": {"sweep_pages": 25},
    "no learning of weights in the crawl": {"prior_strength": 1e9},
    "no safety net": {"net": False},
}
"""Variants that need no other prior."""


def variants(examples: Path, folder: Path, topic: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Give the names and parameters of all variants; priors are written to a folder."""
    yield from SETTINGS.items()
    yield "no combinations of features", {"prior": _prior(folder / "straight.json", examples, hidden=0)}
    for group, names in GROUPS.items():
        if group != "start":
            without = "+".join(names)
            prior = _prior(folder / f"{group}.json", examples, without=without)
            yield f"no features of: {group}", {"without": without, "prior": prior}
    own = f"wikispeedia {topic.replace('/', ' ')} {PERFECT}.npz"
    yield FEATURE_ORACLE, {"prior": _prior(folder / f"own {topic.replace('/', ' ')}.json", examples, more=own)}


def _prior(path: Path, examples: Path, *, hidden: int = Teaching.hidden, without: str = "", more: str = "") -> str:
    if not path.exists():
        crawls = [crawl for _, crawl in kept(WEBS, (PERFECT, "adaptive"), examples, without)]
        if more:
            crawls += [Examples.load(examples / more)] * len(crawls)
        path.write_text(written(learned(crawls, Teaching(hidden=hidden)), "", 0), encoding="utf-8")
    return str(path)


def run(examples: Path, folder: Path, topics: int, processes: int) -> None:
    """Run what is missing."""
    known = {(row["topic"], row["variant"]) for row in read_rows(RESULTS)}
    named: dict[str, tuple[str, str]] = {}
    tasks = []
    for topic in split("wikispeedia", "dev")[:topics]:
        for name, parameters in variants(examples, folder, topic):
            if (topic, name) not in known:
                task = Task(
                    web="wikispeedia", topic=topic, strategy="thresher", seed_set=SEED_SET, judge=PERFECT,
                    pages=PAGES, parameters=parameters,
                )  # fmt: skip
                tasks.append(task)
                named[task.key] = topic, name
    scratch = folder / "rows.jsonl"
    rows = run_tasks(tasks, scratch, processes=processes, progress=lambda done, all_: print(f"\r{done}/{all_}", end=""))
    with RESULTS.open("a", encoding="utf-8") as file:
        for task, row in zip(tasks, rows, strict=True):
            topic, name = named[task.key]
            figures = {key: row[key] for key in ("percent_of_oracle", "hr_at_r", "recall", "dead")}
            file.write(json.dumps({"topic": topic, "variant": name, **figures}) + "\n")


def show() -> None:
    """Print what each variant makes, and how far it is from the whole."""
    rows = read_rows(RESULTS)
    scores = (
        Score(strategy=row["variant"], topic=row["topic"], seed_set=SEED_SET, value=row["percent_of_oracle"])
        for row in rows
    )
    found = sorted(compare_paired(scores, WHOLE), key=lambda each: each.mean.mean)
    lines = [
        [each.strategy, f"{each.mean.mean:.1f}", f"{each.difference.mean:+.1f}",
         f"[{each.difference.low:+.1f}, {each.difference.high:+.1f}]", f"{each.wins}/{each.losses}"]
        for each in found
    ]  # fmt: skip
    echo_table(["variant", "% of oracle", "difference", "95 %", "better/worse"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=Path, default=Path("thresher-lab/prior"), help="those of flagship_prior")
    parser.add_argument("--topics", type=int, default=23)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--print", action="store_true", help="run nothing")
    options = parser.parse_args()
    if not options.print:
        with TemporaryDirectory() as folder:
            run(options.examples, Path(folder), options.topics, options.processes)
    show()


if __name__ == "__main__":
    main()
