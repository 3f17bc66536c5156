"""A comparison runs every task once, continues where it stopped, and sums up by topic."""

import json

import pyarrow.parquet as pq
import pytest

from tests.unit.lab.small_web import tea_and_solar
from thresher_lab.simulation import compare
from thresher_lab.simulation.compare import run_tasks, summarise, write_parquet
from thresher_lab.simulation.tasks import Task, TaskRunner, key_of
from thresher_lab.statistics.result_rows import read_rows


class CountingBench:
    """Runs tasks, and remembers which."""

    def __init__(self, bench):
        self.bench = bench
        self.ran = []

    def run(self, task):
        self.ran.append(task.key)
        return self.bench.run(task)

    def flush(self):
        self.bench.flush()


@pytest.fixture
def bench(tmp_path, monkeypatch):
    counting = CountingBench(TaskRunner(tea_and_solar(), cache=tmp_path / "cache"))
    monkeypatch.setattr(compare, "_benches", {"small": counting})
    yield counting
    counting.bench.pages.close()


def tasks(*strategies, topics=("energy/solar", "food"), seed_sets=1):
    return [
        Task(web="small", topic=topic, strategy=strategy, seed_set=seed_set, pages=12, seeds=2)
        for topic in topics
        for seed_set in range(seed_sets)
        for strategy in strategies
    ]


def run(asked, path, progress=lambda done, total: None):
    return run_tasks(asked, path, processes=1, progress=progress)


def test_rows_come_in_the_order_of_the_tasks_and_are_all_in_the_file(bench, tmp_path):
    asked = tasks("best-first", "breadth-first")[::-1]
    rows = run(asked, tmp_path / "new" / "rows.jsonl")
    assert [key_of(row) for row in rows] == [task.key for task in asked]
    assert sorted(map(key_of, read_rows(tmp_path / "new" / "rows.jsonl"))) == sorted(bench.ran)


def test_what_is_known_is_not_run_again(bench, tmp_path):
    path = tmp_path / "rows.jsonl"
    first = run(tasks("best-first"), path)
    bench.ran.clear()
    both = run(tasks("best-first", "breadth-first"), path)
    assert bench.ran == [task.key for task in tasks("breadth-first")]
    assert [row for row in both if row["strategy"] == "best-first"] == first


def test_another_budget_or_judge_is_another_task(bench, tmp_path):
    path = tmp_path / "rows.jsonl"
    run(tasks("best-first", topics=["food"]), path)
    other = {"web": "small", "topic": "food", "strategy": "best-first", "seed_set": 0, "seeds": 2}
    run([Task(**other, pages=11), Task(**other, pages=12, judge="adaptive")], path)
    assert len(bench.ran) == 3


def test_a_line_that_a_crash_cut_short_is_run_again_and_nothing_else(bench, tmp_path):
    path = tmp_path / "rows.jsonl"
    run(tasks("best-first"), path)
    path.write_text(path.read_text()[:-40])
    bench.ran.clear()
    assert len(run(tasks("best-first"), path)) == 2
    assert len(bench.ran) == 1


def test_the_first_row_after_a_torn_line_is_known_the_next_time(bench, tmp_path):
    path = tmp_path / "rows.jsonl"
    run(tasks("best-first"), path)
    path.write_text(path.read_text()[:-40])
    run(tasks("best-first"), path)
    bench.ran.clear()
    run(tasks("best-first"), path)
    assert bench.ran == []


def test_progress_starts_with_what_is_known(bench, tmp_path):
    path, reported = tmp_path / "rows.jsonl", []
    run(tasks("best-first"), path)
    run(tasks("best-first", "random"), path, lambda done, total: reported.append((done, total)))
    assert reported == [(2, 4), (3, 4), (4, 4)]


def test_strategies_are_compared_topic_by_topic(bench, tmp_path):
    rows = run(tasks("best-first", "breadth-first", "oracle", seed_sets=2), tmp_path / "rows.jsonl")
    found = {comparison.strategy: comparison for comparison in summarise(rows, "breadth-first")}
    assert found["oracle"].mean.mean == pytest.approx(100)
    assert found["best-first"].wins + found["best-first"].losses + found["best-first"].ties == 2
    assert found["breadth-first"].difference.mean == 0


def test_parquet_holds_the_rows_without_their_curves(bench, tmp_path):
    rows = run(tasks("best-first", "oracle"), tmp_path / "rows.jsonl")
    write_parquet(rows, tmp_path / "rows.parquet")
    written = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["percent_of_oracle"] for row in written] == [row["percent_of_oracle"] for row in rows]
    assert json.loads(written[0]["parameters"]) == {}
    assert not [name for name in written[0] if name.endswith("curve")]


def test_parquet_keeps_the_columns_that_the_first_row_lacks(bench, tmp_path):
    rows = run(tasks("oracle", "best-first"), tmp_path / "rows.jsonl")
    write_parquet(rows, tmp_path / "rows.parquet")
    assert "ms_per_page" in pq.read_table(tmp_path / "rows.parquet").column_names
