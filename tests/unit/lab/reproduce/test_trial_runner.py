"""Trials are run once, and rows are kept per experiment."""

import json

import pytest

from thresher.errors import ConfigError
from thresher_lab.reproduce import trial_runner
from thresher_lab.reproduce.trial_runner import run_trials
from thresher_lab.reproduce.trials import Trial
from thresher_lab.statistics.result_rows import read_rows


def trial(strategy, topic="tea"):
    return Trial(web="small", topic=topic, strategy=strategy, seed_set=0, pages=10)


class Stage:
    """Runs nothing, and remembers what it was asked for."""

    def __init__(self):
        self.asked = []

    def run(self, task):
        self.asked.append(task.strategy)
        if task.strategy == "layers":
            raise ConfigError("nothing to learn from")
        return json.loads(task.key)

    def flush(self):
        pass


@pytest.fixture
def stage(monkeypatch):
    fake = Stage()
    monkeypatch.setattr(trial_runner, "_stages", {"small": fake})
    return fake


def run(trials, folder, name="E1"):
    return run_trials(trials, folder, name, processes=1, progress=lambda *_: None)


def test_what_is_in_the_file_is_not_run_again(stage, tmp_path):
    run([trial("fish")], tmp_path)
    run([trial("fish"), trial("shark")], tmp_path)
    assert stage.asked == ["fish", "shark"]
    assert [row["strategy"] for row in read_rows(tmp_path / "E1.jsonl")] == ["fish", "shark"]


def test_a_crawl_of_another_experiment_is_taken_over(stage, tmp_path):
    run([trial("fish")], tmp_path)
    run([trial("fish")], tmp_path, "E2")
    assert stage.asked == ["fish"]
    assert read_rows(tmp_path / "E1.jsonl") == read_rows(tmp_path / "E2.jsonl")


def test_a_strategy_that_nobody_registered_is_left_out_loudly(stage, tmp_path):
    assert run([trial("crystal-ball"), trial("fish")], tmp_path) == ["not available: strategy crystal-ball"]
    assert stage.asked == ["fish"]


def test_a_crawl_that_cannot_be_trained_stops_no_other(stage, tmp_path):
    [trouble] = run([trial("layers"), trial("fish")], tmp_path)
    assert trouble == "not available: layers on small, tea: nothing to learn from"
    assert [row["strategy"] for row in read_rows(tmp_path / "E1.jsonl")] == ["fish"]


def test_a_line_that_a_crash_cut_short_swallows_no_other(stage, tmp_path):
    (tmp_path / "E1.jsonl").write_text('{"strategy": "fi')
    run([trial("shark")], tmp_path)
    assert [row["strategy"] for row in read_rows(tmp_path / "E1.jsonl")] == ["shark"]
