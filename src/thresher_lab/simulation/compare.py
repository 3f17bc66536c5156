"""Strategies side by side: many tasks over several processes, resumable, summed up with intervals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from thresher_lab.simulation.processes import run_groups
from thresher_lab.simulation.tasks import Task, TaskRunner, key_of
from thresher_lab.statistics.result_rows import Row, add_rows, read_rows
from thresher_lab.statistics.significance import Comparison, Score, compare_paired

HEADLINE = "percent_of_oracle"


def run_tasks(tasks: Sequence[Task], path: Path, *, processes: int, progress: Callable[[int, int], None]) -> list[Row]:
    """Run the tasks that are not in the file yet, appending each row; return the rows of all tasks."""
    known = {key_of(row): row for row in read_rows(path)}
    missing = [task for task in tasks if task.key not in known]
    done = len(tasks) - len(missing)
    progress(done, len(tasks))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    for row in run_groups(missing, _run_group, place=_place, processes=processes):
        known[key_of(row)] = row
        add_rows(path, [row])
        done += 1
        progress(done, len(tasks))
    return [known[task.key] for task in tasks]


def _place(task: Task) -> tuple[str, str, int]:
    """Return the key of tasks that share an oracle."""
    return task.web, task.topic, task.seed_set


_benches: dict[str, TaskRunner] = {}
"""The webs that this process has open."""


def _run_group(tasks: Sequence[Task]) -> list[Row]:
    bench = _benches.get(tasks[0].web) or _benches.setdefault(tasks[0].web, TaskRunner.open(tasks[0].web))
    rows = [bench.run(task) for task in tasks]
    bench.flush()
    return rows


def summarise(rows: Iterable[Row], baseline: str, *, metric: str = HEADLINE) -> tuple[Comparison, ...]:
    """Compare strategies over topics, with bootstrap intervals and corrected tests."""
    scores = (
        Score(strategy=row["strategy"], topic=row["topic"], seed_set=row["seed_set"], value=row[metric]) for row in rows
    )
    return compare_paired(scores, baseline)


def write_parquet(rows: Sequence[Row], path: Path) -> None:
    """Write the rows, without their curves, as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = [{name: value for name, value in row.items() if not name.endswith("curve")} for row in rows]
    flat = [{**row, "parameters": json.dumps(row["parameters"])} for row in plain]
    names = list(dict.fromkeys(name for row in flat for name in row))  # the oracle's rows have no costs
    pq.write_table(pa.table({name: [row.get(name) for row in flat] for name in names}), path)
