"""Strategies side by side: many tasks over several processes, resumable, summed up with intervals."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import groupby
from pathlib import Path

from thresher.lab.statistics import Comparison, Score, compare_paired
from thresher.lab.tasks import Bench, Row, Task, key_of

HEADLINE = "percent_of_oracle"


def read_rows(path: Path) -> list[Row]:
    """Read the rows of earlier runs; a line that a crash cut short is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def run_tasks(tasks: Sequence[Task], path: Path, *, processes: int, progress: Callable[[int, int], None]) -> list[Row]:
    """Run what is not in the file yet, adding each row as it comes; return the rows of all tasks."""
    known = {key_of(row): row for row in read_rows(path)}
    missing = [task for task in tasks if task.key not in known]
    done = len(tasks) - len(missing)
    progress(done, len(tasks))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        if _is_torn(path):
            file.write("\n")  # a line that a crash cut short must not swallow the next one
        for row in _run(missing, processes):
            known[key_of(row)] = row
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            file.flush()
            done += 1
            progress(done, len(tasks))
    return [known[task.key] for task in tasks]


def _is_torn(path: Path) -> bool:
    content = path.read_bytes()
    return bool(content) and not content.endswith(b"\n")


def _run(tasks: Sequence[Task], processes: int) -> Iterator[Row]:
    """Run tasks that share a web, a topic and seeds in one go, so that they share an oracle too."""
    groups = [list(group) for _, group in groupby(sorted(tasks, key=_place), key=_place)]
    if processes == 1 or len(groups) <= 1:
        for group in groups:
            yield from _run_group(group)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        try:
            for future in as_completed([pool.submit(_run_group, group) for group in groups]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # or Ctrl-C would wait for all that is left
            raise


def _place(task: Task) -> tuple[str, str, int]:
    return task.web, task.topic, task.seed_set


_benches: dict[str, Bench] = {}
"""The webs that this process has open."""


def _run_group(tasks: Sequence[Task]) -> list[Row]:
    bench = _benches.get(tasks[0].web) or _benches.setdefault(tasks[0].web, Bench.open(tasks[0].web))
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
