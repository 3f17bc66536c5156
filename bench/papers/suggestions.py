"""What the papers suggested, each against the strategy it would better: dev topics of one web.

    python -m bench.papers.suggestions [--topics 10] [--pages 300] [--processes 2] [--out FILE]

Rows are added to the file as they come, and those that are there are not run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import click

from thresher_lab.simulation.tasks import Task, TaskRunner, key_of
from thresher_lab.simulation.topic_splits import split
from thresher_lab.simulation.training import TRAINING_SHARE
from thresher_lab.statistics.significance import bootstrap_difference, bootstrap_mean

WEB = "wikispeedia"
JUDGES = ("perfect", "adaptive")
DISTILL_EVERY = 25
SUGGESTIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "rules": ("rules", "rules", {}),
    "rules, refined": ("rules", "rules", {"refine": True}),
    "rules, inner nodes": ("rules", "rules", {"inner": True}),
    "soft-focus": ("soft-focus", "soft-focus", {}),
    "soft-focus, distilled": ("soft-focus", "soft-focus", {"distill": DISTILL_EVERY}),
}
"""Name -> its baseline, the strategy, its parameters."""
MEASURE = "mean_percent_of_oracle"
KEPT = (MEASURE, "percent_of_oracle", "harvest_rate", "recall", "targets", "fetched", "ms_per_page")

Row = dict[str, Any]


def tasks_of(topic: str, pages: int) -> Iterator[Task]:
    """List the crawls of a topic; all leave the same training pages out."""
    for judge in JUDGES:
        for _, strategy, parameters in SUGGESTIONS.values():
            yield Task(web=WEB, topic=topic, strategy=strategy, seed_set=0, judge=judge, pages=pages,
                       parameters=parameters, training=TRAINING_SHARE)  # fmt: skip


@cache
def _bench() -> TaskRunner:
    return TaskRunner.open(WEB)


def run_topic(topic: str, pages: int, known: frozenset[str], out: Path) -> None:
    """Run the crawls of a topic that nobody has run yet, and write each one down when it is done."""
    for task in tasks_of(topic, pages):
        if task.key not in known:
            row = _bench().run(task)
            line = json.dumps({name: row[name] for name in (*vars(task), *KEPT)}, ensure_ascii=False)
            with out.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
    _bench().flush()


def read(path: Path) -> list[Row]:
    """Read the rows of a file; none when it is not there."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def table(rows: Sequence[Row], topics: Sequence[str], pages: int) -> Iterator[str]:
    """Write the means, and the differences to each baseline with their intervals, over the same topics."""
    values = {key_of(row): row[MEASURE] for row in rows}
    keys = {topic: [task.key for task in tasks_of(topic, pages)] for topic in topics}
    done = [topic for topic in topics if all(key in values for key in keys[topic])]
    if not done:
        return
    yield f"| judge | strategy | {MEASURE} | difference to its baseline | better / worse / equal |"
    yield "|---|---|---:|---:|---:|"
    for number, judge in enumerate(JUDGES):
        found = {
            name: [values[keys[topic][number * len(SUGGESTIONS) + place]] for topic in done]
            for place, name in enumerate(SUGGESTIONS)
        }
        for name, (baseline, _, _) in SUGGESTIONS.items():
            yield f"| {judge} | {name} | {bootstrap_mean(found[name]).mean:.1f} | {_against(found, name, baseline)} |"
    yield f"\n{len(done)} dev topics of {WEB}, {pages} pages, 5 seeds, one seed set; 95 % bootstrap over topics."


def _against(found: dict[str, list[float]], name: str, baseline: str) -> str:
    if name == baseline:
        return "| "
    gap = bootstrap_difference(found[name], found[baseline])
    pairs = list(zip(found[name], found[baseline], strict=True))
    better, worse = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    signs = f"{better} / {worse} / {len(pairs) - better - worse}"
    return f"{gap.mean:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}] | {signs}"


@click.command()
@click.option("--topics", "most", default=10, show_default=True, help="How many dev topics.")
@click.option("--pages", default=300, show_default=True, help="Fetches of each crawl.")
@click.option("--processes", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=Path("bench/results/paper-suggestions.jsonl"))
def main(most: int, pages: int, processes: int, out: Path) -> None:
    """Run what is missing, and print the table."""
    topics = split(WEB, "dev")[:most]
    known = frozenset(map(key_of, read(out)))
    with ProcessPoolExecutor(processes) as pool:
        for waiting in [pool.submit(run_topic, topic, pages, known, out) for topic in topics]:
            waiting.result()
    for line in table(read(out), topics, pages):
        click.echo(line)


if __name__ == "__main__":
    main()
